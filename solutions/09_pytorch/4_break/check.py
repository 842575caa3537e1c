"""The specification of exercise 09.4."""

import torch
import torch.nn.functional as F
from torch import nn

DIMS = "x"
NEEDS = {"ClippedBlock": "(features, limit, warm_up)"}
COMPILES = True
LEARNT = ("A choice that depends on data stays on the device as torch.where, and a number that changes "
          "with each call is a tensor. Then the compiler sees the whole block, and nobody waits for the "
          "device.")
LESSON = "docs/09_pytorch.md, stage 6: inside torch.compile"

ROWS, FEATURES, LIMIT, WARM_UP, CALLS = 5, 8, 3.0, 4, 8


class Graphs:
    """A backend that runs aot_eager and notes what graphs call that is not PyTorch's own."""

    def __init__(self):
        self.foreign = ""
        torch._dynamo.utils.counters.clear()

    @property
    def count(self):
        """The graphs that are there in the end: Dynamo may begin again, and then calls a backend twice."""
        return torch._dynamo.utils.counters["stats"]["unique_graphs"]

    def __call__(self, graph_module, inputs):
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and not _is_built_in(node.target):
                self.foreign = str(getattr(node.target, "__name__", node.target))
        return torch._dynamo.lookup_backend("aot_eager")(graph_module, inputs)


def _is_built_in(function):
    if isinstance(function, torch._ops.OpOverload):
        return function.namespace in ("aten", "prims")
    return getattr(function, "__module__", None) != "answer"


# --- What is right ---


def _expected(block, x, call):
    """Value and gradients (of x, weight, bias) of the call with that number."""
    inputs = [each.detach().clone().requires_grad_() for each in (x, block.linear.weight, block.linear.bias)]
    y = F.gelu(F.linear(*inputs))
    norm = y.norm().item()
    if norm > block.limit_of_check:
        y = y * (block.limit_of_check / norm)
    y = y * min(1.0, call / WARM_UP)
    return y.detach(), torch.autograd.grad(y.sum(), inputs)


def _inputs():
    """One x for each call: its norm is above the limit in every other call, and the third is zero."""
    made = torch.Generator().manual_seed(94)
    for call in range(1, CALLS + 1):
        x = torch.randn(ROWS, FEATURES, generator=made) * (4 if call % 2 else 0.2)
        yield call, x * 0 if call == 3 else x


def _block(answer, limit=LIMIT):
    torch.manual_seed(4)
    block = answer.ClippedBlock(FEATURES, limit, WARM_UP)
    if not isinstance(block, nn.Module):
        raise TypeError(f"ClippedBlock must be an nn.Module, but is a {type(block).__name__}")
    parameters = [name for name, _ in block.named_parameters()]
    if sorted(parameters) != ["linear.bias", "linear.weight"]:
        raise TypeError("the parameters must be linear.weight and linear.bias, but are "
                        f"{', '.join(parameters)}")
    nn.init.zeros_(block.linear.bias)  # so that a zero x has a result of norm 0
    block.limit_of_check = limit
    return block


# --- The checks ---


def _step(function, block, x):
    leaf = x.clone().requires_grad_()
    y = function(leaf)
    return y.detach(), torch.autograd.grad(y.sum(), (leaf, block.linear.weight, block.linear.bias))


def _call_fault(function, block, call, x):
    value, gradients = _step(function, block, x)
    want, want_gradients = _expected(block, x, call)
    norm = f"the norm is {F.gelu(block.linear(x)).norm().item():.3g}, the limit {block.limit_of_check:.3g}"
    if value.shape != want.shape:
        return f"call {call}: the result has the shape {list(value.shape)}, but must have {list(want.shape)}"
    if not torch.allclose(value, want, rtol=1e-5, atol=1e-6):
        factor = (value.norm() / want.norm()).item() if want.norm() else float("nan")
        return (f"call {call}: the result is wrong ({norm}; the factor 1 / warm_up * {call}, at most 1): "
                f"it is {factor:.4g} times what it must be")
    if _alike(gradients, want_gradients):
        return ""
    if call < WARM_UP and _alike(gradients, _expected(block, x, call + 1)[1]):
        return (f"call {call}: the value is right, but the gradients are those of call {call + 1}. The "
                "backward pass has read the number of calls after it was changed in place: is it a new "
                "tensor in each call?")
    names = ("x", "linear.weight", "linear.bias")
    wrong = [name for name, *pair in zip(names, gradients, want_gradients) if not _alike(pair[:1], pair[1:])]
    nan = any(gradient.isnan().any() for gradient in gradients)
    why = ("It is NaN: what is divided by the norm, when that is 0?" if nan
           else "The factor is a constant for autograd: is the norm detached?")
    return f"call {call}: the value is right, but the gradient of {wrong[0]} is not ({norm}). {why}"


def _alike(have, want):
    return all(torch.allclose(one, other, rtol=1e-4, atol=1e-5) for one, other in zip(have, want))


def _eager_fault(answer, limit):
    block = _block(answer, limit)
    for call, x in _inputs():
        fault = _call_fault(block, block, call, x)
        if fault:
            return fault
    other = _block(answer, limit)
    fault = _call_fault(other, other, 1, x)
    return f"a second block does not begin with its own first call: {fault}" if fault else ""


def _compiled_fault(answer, graphs):
    torch._dynamo.reset()
    block = _block(answer)
    compiled = torch.compile(block, fullgraph=True, backend=graphs)
    for call, x in _inputs():
        fault = _call_fault(compiled, block, call, x)
        if fault:
            return fault
    if graphs.count == 0:
        return ("nothing was compiled: forward is excluded from compiling, so the break is as large as "
                "the block")
    if graphs.foreign:
        return (f"the graph calls {graphs.foreign}: an operator of your own hides the break, and what is "
                "inside it")
    return ""


def check(answer, verdict):
    size = f"{ROWS}x{FEATURES}"
    for limit, how in ((LIMIT, "norms around the limit"), (1e6, "never at the limit")):
        verdict.case(size, f"eager, {CALLS} calls, {how}", lambda: _eager_fault(answer, limit))
    if not verdict.all_right():
        return
    graphs = Graphs()
    verdict.case(size, f"compiled, {CALLS} calls", lambda: _compiled_fault(answer, graphs))
    if verdict.all_right():
        verdict.limit(f"graphs for {CALLS} calls", graphs.count, 1,
                      "which number is another one in each call, and is it a tensor?")
