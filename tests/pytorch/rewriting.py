"""What check_ops.py runs in the Python that has PyTorch: `rewrite` and `backend` on models, results compared
with those of the models as they were."""

import contextlib
import copy
import functools
import io
import pathlib
import re
import sys
from typing import Callable, NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect

import torch
import torch.nn.functional as F
import workbook_ops
from torch import nn, Tensor
from torch.utils._python_dispatch import TorchDispatchMode


class Calls(TorchDispatchMode):
    """Counts the calls of the library's forward operators."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        self.count += name.startswith("workbook_ops.") and "backward" not in name
        return function(*args, **(kwargs or {}))


# --- Models ---


class Model(nn.Module):
    """A model of layers by name; `forward` gets the model and x."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.function = forward
        for name, layer in layers.items():
            self.add_module(name, layer)

    def forward(self, x):
        return self.function(self, x)


class Block(nn.Module):
    """The second half of a transformer's block, with a dropout that reads self.training."""

    def __init__(self, approximate="none"):
        super().__init__()
        self.norm, self.up, self.act = nn.LayerNorm(8), nn.Linear(8, 32), nn.GELU(approximate)
        self.down = nn.Linear(32, 8)

    def forward(self, x, scale=1.0):
        y = self.down(self.act(self.up(self.norm(x))))
        return x + scale * F.dropout(y, 0.5, self.training)


class Branching(nn.Module):
    """Cannot be traced as a whole; its blocks can."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block("tanh")])

    def forward(self, x):
        for block in self.blocks:
            x = block(x) if x.sum() < 1e9 else x
        return x


class Counting(Block):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return super().forward(x) + self.calls


def changes_its_input(model, x):
    y = model.up(x)
    x.zero_()
    return F.gelu(y)


def remembers(model, x):
    model.last = F.gelu(model.up(x))
    return model.last


def shared_weight(model, x):
    y = F.gelu(F.linear(x, model.up.weight, model.up.bias), approximate="tanh")
    return F.linear(y, model.up.weight.t())


class Optional(Block):
    """Does something else where its second argument is None."""

    def forward(self, x, scale=None):
        return super().forward(2 * x if scale is None else x * scale)


def frozen_encoder(model, x):
    with torch.no_grad():
        x = model.up(x)
    return F.gelu(model.down(x))


def without_gradient(model, x):
    y = model.up(x)
    with torch.no_grad():
        return F.gelu(y)


def skips_at_random(model, x):
    return x if torch.rand(()).item() < 0.5 else F.gelu(model.up(x))


class TimesTen(Tensor):
    """A weight whose linear is another one, as a quantised weight's is."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs)
        return 10 * result.as_subclass(Tensor) if function is F.linear else result


class OfThisPackage(nn.Module):
    """Has operators and modules of this package already."""

    def __init__(self):
        super().__init__()
        self.norm, self.up = workbook_ops.ResidualRMSNorm(8), nn.Linear(8, 32)

    def forward(self, x):
        y, total = self.norm(x, workbook_ops.mul_tanh(a=x, b=x))
        return workbook_ops.bias_gelu(F.gelu(self.up(y)), self.up.bias).sum() + total


def up():
    return nn.Linear(8, 32)


def altered(change):
    model = nn.Sequential(up(), nn.GELU())
    change(model)
    return model


class Case(NamedTuple):
    model: Callable[[], nn.Module]
    replaced: list[str]
    left: list[str] = []  # how the entries begin


NO_LINEAR = "its input does not come from a Linear"
CASES = {
    "modules": Case(lambda: nn.Sequential(up(), nn.GELU(), nn.Linear(32, 8)), ["0, 1"]),
    "modules, tanh": Case(lambda: nn.Sequential(up(), nn.GELU("tanh")), ["0, 1"]),
    "functions": Case(lambda: Model(lambda m, x: F.gelu(m.up(x)), up=up()), ["up, gelu"]),
    "functions that share a weight": Case(lambda: Model(shared_weight, up=up()), ["linear, gelu"]),
    "one Linear called twice":
        Case(lambda: Model(lambda m, x: F.gelu(m.up(x)) + F.gelu(m.up(-x), approximate="tanh"), up=up()),
             ["up, gelu", "up, gelu_1"]),
    "a transformer's blocks": Case(lambda: nn.Sequential(Block(), Block("tanh")),
                                   ["0.up, 0.act", "1.up, 1.act"]),
    "children of what cannot be traced":
        Case(Branching, ["blocks.0.up, blocks.0.act", "blocks.1.up, blocks.1.act"],
             ["the model itself: it cannot be traced (TraceError: "]),
    "operators of this package": Case(OfThisPackage, ["up, gelu"]),
    "a buffer that forward changes": Case(Counting, ["up, act"]),
    "the Linear's result used twice":
        Case(lambda: Model(lambda m, x: (lambda y: F.gelu(y) + y)(m.up(x)), up=up()), [],
             ["gelu: the result of the Linear is used elsewhere as well"]),
    "another input": Case(lambda: nn.Sequential(nn.LayerNorm(8), nn.GELU()), [], [f"1: {NO_LINEAR}"]),
    "no bias": Case(lambda: nn.Sequential(nn.Linear(8, 32, bias=False), nn.GELU()), ["0, 1"]),
    "functions without a bias":
        Case(lambda: Model(lambda m, x: F.gelu(F.linear(x, m.up.weight)) + m.up.bias, up=up()),
             ["linear, gelu"]),
    "a subclass": Case(lambda: nn.Sequential(type("Mine", (nn.Linear,), {})(8, 32), nn.GELU()),
                       ["linear, 1"]),
    "a weight norm": Case(lambda: altered(lambda m: nn.utils.parametrizations.weight_norm(m[0])), [],
                          [f"1: {NO_LINEAR}"]),
    "a hook": Case(lambda: altered(lambda m: m[0].register_forward_hook(lambda _, x, y: 2 * y)), [],
                   ["1: 0 has hooks or a forward of its own"]),
    "a block with a hook":
        Case(lambda: altered(lambda m: (m.insert(0, Block()),
                                        m[0].register_forward_hook(lambda _, x, y: 2 * y))),
             ["1, 2", "0.up, 0.act"]),
    "another forward":
        Case(lambda: altered(lambda m: setattr(m[0], "forward", lambda x: x)), [],
             ["1: 0 has hooks or a forward of its own"]),
    "noise": Case(lambda: Model(lambda m, x: F.gelu(m.up(x)) + torch.rand(32), up=up()), [],
                  ["the model itself: its forward makes tensors that do not depend on its inputs"]),
    "an argument that is None": Case(Optional, ["up, act"]),
    "a part without gradients":
        Case(lambda: Model(frozen_encoder, up=up(), down=nn.Linear(32, 8)), [],
             ["the model itself: its forward changes the mode of autograd or autocast"]),
    "a decision at random":
        Case(lambda: Model(skips_at_random, up=nn.Linear(8, 8)), [],
             ["the model itself: its forward draws random numbers"]),
    "an attribute": Case(lambda: Model(remembers, up=up()), [],
                         ["the model itself: its forward sets the attribute last"]),
    "a layer of torch.nn":
        Case(lambda: nn.Sequential(nn.TransformerEncoderLayer(8, 2, 32, activation="gelu", batch_first=True)),
             [], ["0: torch.fx does not look into TransformerEncoderLayer of torch.nn"]),
}


# --- Comparisons ---


def results(model, training):
    """The output for fixed inputs, and the gradients of all parameters."""
    model.train(training)
    torch.manual_seed(1)
    x = torch.randn(2, 5, 8, requires_grad=True)
    y = model(x)
    y.square().sum().backward()
    gradients = [x.grad, *(each.grad for each in model.parameters())]
    model.zero_grad()
    return [y, *gradients]


def same(ones, others):
    return all(one is other or torch.allclose(one, other, atol=1e-5, rtol=1e-4)
               for one, other in zip(ones, others, strict=True))


def check_case(name, case):
    torch.manual_seed(0)
    model = case.model()
    before, names = copy.deepcopy(model), list(model.state_dict())
    model.train(False)
    report = workbook_ops.rewrite(model)
    expect(f"{name}: {len(report.replaced)} replaced, {len(report.left)} left",
           report.replaced == case.replaced and len(report.left) == len(case.left)
           and all(map(str.startswith, report.left, case.left)), report)
    expect("... the class, the mode and the state are as before",
           type(model) is type(before) and not model.training and names == list(model.state_dict()))
    for each in (model, copy.deepcopy(model)):
        reference = copy.deepcopy(before)
        right = [same(results(each, training), results(reference, training)) for training in (True, False)]
        expect("... so are results and gradients", all(right), right)
    counts = []
    for each in (before, model):
        with Calls() as calls:
            each(torch.randn(2, 5, 8))
        counts.append(calls.count)
    expect("... the operator is called", counts[1] - counts[0] == len(case.replaced), counts)


def check_modes():
    """A frozen block keeps its mode, though the model is in training."""
    torch.manual_seed(0)
    model = nn.Sequential(Block(), Block())
    before = copy.deepcopy(model)
    workbook_ops.rewrite(model)
    outputs = []
    for each in (model, before):
        each.train()
        each[1].eval()
        torch.manual_seed(1)
        outputs.append(each(torch.ones(2, 8)))
    expect("a model with a frozen block", torch.allclose(*outputs, atol=1e-6), outputs)


def check_order():
    model = Model(changes_its_input, up=up())
    wanted = model(torch.ones(2, 8))
    report = workbook_ops.rewrite(model)
    with torch.no_grad():
        y = model(torch.ones(2, 8))
    expect("an input that is changed before the GELU",
           report.replaced == ["up, gelu"] and torch.allclose(y, wanted, atol=1e-6), report)


def check_class_of_weight():
    model = nn.Sequential(up(), nn.GELU())
    model[0].weight = nn.Parameter(model[0].weight.detach().as_subclass(TimesTen))
    wanted = model(torch.ones(2, 8))
    report = workbook_ops.rewrite(model)
    expect("a weight of another class", torch.equal(model(torch.ones(2, 8)), wanted)
           and report.left == ["1: 0 has a TimesTen, which may have a linear of its own"], report)


def check_again():
    model = nn.Sequential(up(), nn.GELU())
    workbook_ops.rewrite(model)
    report = workbook_ops.rewrite(model)
    expect("a second call says that there was a first one",
           str(report) == "left the model itself: its forward has been exchanged before", report)
    block = Block()
    workbook_ops.rewrite(block)
    x = torch.ones(2, 8)
    expect("arguments by name", torch.equal(block(x, scale=0.0), x) and torch.equal(block(x=x, scale=0.0), x))
    torch.manual_seed(0)
    old = Optional().eval()
    new = copy.deepcopy(old)
    workbook_ops.rewrite(new)
    both = [[each(x), each(x, None), each(x, scale=None), each(x, 3.0), each(x, scale=3.0)]
            for each in (old, new)]
    expect("an argument that is None in one call and given in another", same(*both), both)


def check_saved():
    """A state that was saved before is loaded after, and the other way round."""
    torch.manual_seed(0)
    old, new = Block().eval(), Block().eval()
    workbook_ops.rewrite(new)
    new.load_state_dict(old.state_dict())
    x = torch.randn(3, 8)
    expect("a state from before rewrite()", torch.allclose(old(x), new(x), atol=1e-6))
    fresh = Block().eval()
    fresh.load_state_dict(new.state_dict())
    expect("a state from after rewrite()", torch.allclose(fresh(x), new(x), atol=1e-6))


def check_readmes():
    """The examples of the READMEs print the output that stands below them."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for page in (root / "README.md", root / "chapters/09_pytorch/README.md"):
        block = r"((?:(?!```).*\n)*)```\n"
        quoted = re.findall(f"^```python\n{block}\n```text\n{block}", page.read_text(), re.M)
        for code, wanted in quoted:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, {"torch": torch, "workbook_ops": workbook_ops})
            expect(f"{page.relative_to(root)}: the output of an example", printed.getvalue() == wanted,
                   printed.getvalue())
        expect("... there is one", quoted)


def check_backend():
    backend = functools.partial(workbook_ops.backend, inner="aot_eager")
    torch.manual_seed(0)
    encoder = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
    for name, model in (("a transformer's blocks", nn.Sequential(Block(), Block("tanh"))),
                        ("a layer of torch.nn", encoder)):
        compiled = torch.compile(copy.deepcopy(model), backend=backend, fullgraph=True)
        # Dropout draws other numbers when compiled.
        expect(f"backend: {name}", same(results(model, False), results(compiled, False)))
    half_frozen = Model(without_gradient, up=up())
    y = torch.compile(half_frozen, backend=backend)(torch.ones(2, 8))
    expect("backend: a GELU without gradients after a Linear that has some", not y.requires_grad, y)
    rewritten = nn.Sequential(Block(), Block())
    reference = copy.deepcopy(rewritten)
    workbook_ops.rewrite(rewritten)
    compiled = torch.compile(rewritten, backend="aot_eager", fullgraph=True)
    expect("torch.compile takes a rewritten model", same(results(reference, False), results(compiled, False)))


def main():
    torch.set_num_threads(1)
    for name, case in CASES.items():
        check_case(name, case)
    check_modes()
    check_order()
    check_class_of_weight()
    check_again()
    check_saved()
    check_readmes()
    check_backend()


if __name__ == "__main__":
    main()
