"""The specification of exercise 09.3."""

import torch
import torch.nn.functional as F
from torch import fx, nn

import given

DIMS = "model"
NEEDS = {"fuse": "(graph_module)"}
COMPILES = False
LEARNT = ("A rewrite is right if it knows every form of its pattern, and if nothing else looks at what "
          "it removes. In the graph, users and arguments say both.")
LESSON = "docs/09_pytorch.md, stage 6: inside torch.compile"

FEATURES = 6


# --- Models ---


class Model(nn.Module):
    """Two Linears, with which a function computes something."""

    def __init__(self, function, bias=True, approximate="none"):
        super().__init__()
        self.fc1, self.fc2 = (nn.Linear(FEATURES, FEATURES, bias=bias) for _ in range(2))
        self.act, self.tanh = nn.GELU(approximate), nn.GELU("tanh")
        self.function = function
        self.trains = function is not changed_between  # a backward pass refuses an x that has changed

    def forward(self, x):
        return self.function(self, x)


def mlp(m, x):
    return m.fc2(m.act(m.fc1(x)))


def two_kinds(m, x):
    return m.tanh(m.fc2(m.act(m.fc1(x))))


def functions(m, x):
    return F.gelu(F.linear(x, m.fc1.weight, m.fc1.bias)) + F.gelu(m.fc2(x), approximate="tanh")


def keywords(m, x):
    hidden = F.linear(input=x, weight=m.fc1.weight, bias=m.fc1.bias)
    return F.gelu(input=hidden, approximate="tanh") + m.act(input=m.fc2(input=x))


def no_bias_functions(m, x):
    return F.gelu(F.linear(x, m.fc1.weight)) + F.gelu(F.linear(x, m.fc2.weight, None))


def tied(m, x):
    return m.act(m.fc1(m.act(m.fc1(x))))


def used_twice(m, x):
    hidden = m.fc1(x)
    return m.act(hidden) * hidden


def returned(m, x):
    hidden = m.fc1(x)
    return m.act(hidden), hidden


def two_gelus(m, x):
    hidden = m.fc1(x)
    return m.act(hidden) + m.tanh(hidden)


def changed_between(m, x):
    x = x * 2
    hidden = m.fc1(x)
    x.add_(1)
    return m.act(hidden) + x


def hidden_changed(m, x):
    hidden = m.fc1(x)
    hidden.add_(1)
    return m.act(hidden)


def no_linear(m, x):
    return m.act(m.fc1(x) + x) + m.act(x)


def other_activation(m, x):
    return m.fc2(torch.relu(m.fc1(x)))


def models():
    """Name, model, how many calls of linear_gelu there are to be, and how many Linears stay."""
    yield "module", Model(mlp), 1, 1
    yield "tanh", Model(mlp, approximate="tanh"), 1, 1
    yield "both-approximations", Model(two_kinds), 2, 0
    yield "functions", Model(functions), 2, 0
    yield "keywords", Model(keywords), 2, 0
    yield "no-bias", Model(mlp, bias=False), 1, 1
    yield "functions-without-bias", Model(no_bias_functions, bias=False), 2, 0
    yield "sequential", nn.Sequential(nn.Linear(FEATURES, FEATURES), nn.GELU(), nn.Linear(FEATURES, 3)), 1, 1
    yield "tied-weights", Model(tied), 2, 0
    yield "linear-used-twice", Model(used_twice), 0, 1
    yield "linear-returned", Model(returned), 0, 1
    yield "two-gelus", Model(two_gelus), 0, 1
    yield "x-changed-after-the-linear", Model(changed_between), 1, 0
    yield "result-changed-before-the-gelu", Model(hidden_changed), 0, 1
    yield "gelu-of-a-sum", Model(no_linear), 0, 1
    yield "relu", Model(other_activation), 0, 2


# --- The checks ---


def _count(graph_module, kind, function):
    modules = dict(graph_module.named_modules(remove_duplicate=False))
    return sum(node.op == "call_module" and type(modules[node.target]) is kind
               or node.op == "call_function" and node.target is function for node in graph_module.graph.nodes)


def _inputs():
    return torch.randn(5, FEATURES, generator=torch.Generator().manual_seed(93))


def _results(model, backward):
    """The results of a model, and the gradients of its parameters, by name."""
    for parameter in model.parameters():
        parameter.grad = None
    returned = model(_inputs())
    outputs = returned if isinstance(returned, tuple) else (returned,)
    if backward:
        sum((out * out).sum() for out in outputs).backward()
    return [out.detach() for out in outputs], {name: p.grad for name, p in model.named_parameters()}


def _calls(graph_module):
    """How many nodes call linear_gelu."""
    nodes = graph_module.graph.nodes
    return sum(node.op == "call_function" and node.target is given.linear_gelu for node in nodes)


def _graph_fault(graph_module, patterns, linears):
    try:
        graph_module.graph.lint()
    except Exception as error:
        return f"the graph is damaged: {str(error).strip().splitlines()[0]}"
    found = _calls(graph_module)
    if found != patterns:
        why = ("what stays of the Linear's result is needed elsewhere, or what comes before the GELU is "
               "no Linear"
               if found > patterns else "is it a form that the pattern does not know?")
        return (f"linear_gelu is called {_times(found)} in the graph, but it should be "
                f"{_times(patterns)}: {why}")
    left = _count(graph_module, nn.Linear, F.linear)
    if left > linears:
        return (f"the graph has {left} Linears, but should have {linears}: a node that is replaced must "
                "be erased too, or it is still computed")
    if patterns and "linear_gelu" not in graph_module.code:
        return "the graph has linear_gelu, but its code does not: graph_module.recompile() makes new code"
    return ""


def _times(count):
    return "not" if count == 0 else "once" if count == 1 else f"{count} times"


def _model_fault(answer, model, patterns, linears):
    torch.manual_seed(9)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    graph_module, trains = fx.symbolic_trace(model), getattr(model, "trains", True)
    want, want_gradients = _results(graph_module, trains)
    names, before = list(graph_module.state_dict()), dict(graph_module.named_parameters())
    answer.fuse(graph_module)
    fault = _graph_fault(graph_module, patterns, linears)
    if fault:
        return fault
    after = dict(graph_module.named_parameters())
    strange = [name for name in after if name not in before or after[name] is not before[name]]
    if strange or list(graph_module.state_dict()) != names:
        return (f"the parameter {(strange or ['of a Linear'])[0]} is not the model's own: use its "
                "get_attr, make no copy")
    have, gradients = _results(graph_module, trains)
    for one, other in zip(have, want):
        if not torch.allclose(one, other, rtol=1e-6, atol=1e-6):
            off = (one - other).abs().max().item()
            return f"the model computes something else than before, up to {off:.2g} off{_hint(off)}"
    for name, gradient in want_gradients.items():
        if gradient is None and gradients[name] is None:
            continue
        if gradients[name] is None or not torch.allclose(gradients[name], gradient, rtol=1e-5, atol=1e-5):
            return f"the gradient of {name} is another one than before"
    return ""


def _hint(off):
    return (": so little may be the other approximation of GELU" if off < 1e-2
            else ": do x, weight and bias have the values that the Linear had?")


def check(answer, verdict):
    for name, model, patterns, linears in models():
        fires = f"{_times(patterns)} to replace" if patterns else "nothing to replace"
        verdict.case(name, fires, lambda: _model_fault(answer, model, patterns, linears))
