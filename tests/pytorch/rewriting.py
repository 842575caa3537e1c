"""What check_ops.py runs in the Python that has PyTorch: `rewrite` on one method at a time, compared with the
method as it was. What surrounds a model is in rewriting_around.py, whole models in rewriting_models.py."""

import asyncio
import contextlib
import copy
import functools
import importlib.util
import inspect
import linecache
import pathlib
import random
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
import workbook_ops
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

X = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
LIMIT = 1e-5


class Operators(TorchDispatchMode):
    """Collects the names of the library's forward operators that are called."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        if name.startswith("workbook_ops.") and "backward" not in name:
            self.names.append(name.split(".")[1])
        return function(*args, **(kwargs or {}))


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out, self.act = nn.Linear(8, 8), nn.Linear(8, 8), nn.GELU()
        self.norm, self.relu, self.rms = nn.LayerNorm(8), nn.ReLU(), nn.RMSNorm(8, eps=1e-6)


def gradients(model, result):
    model.zero_grad()
    if isinstance(result, torch.Tensor) and result.requires_grad:
        torch.manual_seed(2)
        (result * torch.randn_like(result)).sum().backward()
    return [each.grad for each in model.parameters()]


def raised(function):
    try:
        function()
    except Exception as error:
        return type(error), str(error)
    return None


def check(make, operators, reason="", call=lambda model: model(X), change=None, train=True, dropout=False):
    """The model computes what it did, by these operators or so many `linear_gelu`, and the report has the
    reason. `change` is done to both models after `rewrite`."""
    operators = ["bias_gelu"] * operators if isinstance(operators, int) else operators
    torch.manual_seed(0)
    before = make().train(train)
    after = copy.deepcopy(before)
    report = str(workbook_ops.rewrite(after, dropout))
    values, states = [], []
    for each in (before, after):
        if change:
            change(each)
        torch.manual_seed(1)
        random.seed(1)
        values.append(call(each))
        states.append((torch.get_rng_state().tolist(), random.getstate()))
    assert states[0] == states[1] or dropout, "other random numbers were drawn"
    torch.testing.assert_close(*values[::-1], rtol=LIMIT, atol=LIMIT)
    for old, new in zip(*(gradients(each, value) for each, value in zip((before, after), values))):
        torch.testing.assert_close(new, old, rtol=1e-4, atol=LIMIT)
    with Operators() as called:
        call(after)
    assert called.names == operators, (called.names, report)
    assert reason in report, report
    return after


def forward(function, operators, reason="", base=Base, **options):
    """The same for a class with this forward."""
    return check(type("M", (base,), {"forward": function}), operators, reason, **options)


# --- Forms of the pattern ---


def test_expressions():
    forward(lambda self, x: self.out(self.act(self.fc(x))), 1, "replaced M.forward (rewriting.py:")

    def several(self, x):
        a = nn.functional.gelu(F.linear(x, self.fc.weight, self.fc.bias))
        b = F.gelu(self.fc(x), approximate="tanh")
        return a + b + F.gelu(F.linear(x, bias=None, weight=self.fc.weight))

    forward(several, 3)

    def conditional(self, x):
        if x.shape[0] > 100:
            return self.act(self.fc(x))
        x = self.act(self.fc(x)) if self.training else x
        while x.dim() > 5:
            x = self.fc(x)
        return x

    forward(conditional, 1)

    def named(self, x):
        return self.act(h := self.fc(x)) + h

    forward(named, 0, "its input gets a name, h")

    def by_keyword(self, x):
        return F.gelu(input=self.fc(x))

    forward(by_keyword, 0, "its input is no positional argument")


def test_statements():

    def several(self, x):
        x = self.fc(x)
        x = self.act(x)
        hidden: torch.Tensor = self.out(x)
        residual = x
        """nothing"""
        return F.gelu(hidden) + residual

    forward(several, 2)

    def used_again(self, x):
        h = self.fc(x)
        y = self.act(h)
        return y + h

    line = inspect.getsourcelines(used_again)[1] + 3
    forward(used_again, 0, f"self.act: the result of self.fc is used again at line {line}")

    def changed_between(self, x):
        h = self.fc(x)
        h.mul_(2)
        y = self.act(h)
        return y

    no_grad = torch.no_grad()(lambda model: model(X.clone()))
    forward(changed_between, 0, "goes through something else first", call=no_grad)

    def computed_before(self, x):
        h = self.fc(x)
        y = x.mul_(2) + self.act(h)
        return y

    forward(computed_before, 0, "something else is computed before it", call=no_grad)

    def augmented(self, x):
        h = self.fc(x)
        x += self.act(h)
        g = self.out(x)
        y = self.act(g)
        del g
        return y

    forward(augmented, 1, "the result of self.out is used again", call=no_grad)


class Layers(Base):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.acts = nn.ModuleList(nn.GELU() for _ in range(3))


def test_loops():

    def loop(self, x):
        for layer in self.layers:
            x = layer(x)
            x = self.act(x)
        several = [self.act(layer(x)) for layer in self.layers]
        return sum(several) + self.acts[1](self.layers[0](x))

    forward(loop, 7, base=Layers)


def test_errors_between():

    def handled(self, x):
        try:
            x = self.fc(x)
            x = self.act(x)
        except RuntimeError:
            return x
        try:
            return self.out(self.act(self.fc(x)))
        finally:
            pass

    forward(handled, 1, "an error would leave another x to line")

    def suppressed(self, x):
        with contextlib.suppress(ValueError):
            x = self.fc(x)
            x = self.act(x)
        return x

    forward(suppressed, 0, "an error would leave another x to line")


def test_variables_that_others_see():

    def captured(self, x):
        h = self.fc(x)
        x = self.act(h)

        def later():
            return h

        return x + later()

    forward(captured, 0, "h belongs to the function at line")

    def looks(self, x):
        h = self.fc(x)
        x = self.act(h)
        return x + len(locals())

    forward(looks, 0, "the method looks at its own variables")


def test_generators():

    class Parts(Base):

        def parts(self, x):
            h = self.fc(x)
            yield self.act(h)
            yield self.act(self.out(x))

        def forward(self, x):
            return sum(self.parts(x))

    check(Parts, 2)

    async def later(self, x):
        await asyncio.sleep(0)
        return self.act(self.fc(x))

    forward(later, 1, call=lambda model: asyncio.run(model(X)))


# --- The other patterns ---


def test_relu_of_sum():

    def several(self, x):
        n = 2
        y = F.relu(self.fc(x) + x)
        y = y + self.out(x)
        y = self.relu(y)
        y = self.relu(y + n)
        return torch.relu(y + y[:1])  # broadcast: left

    forward(several, ["add_relu", "add_relu"])
    forward(lambda self, x: nn.ReLU(inplace=True)(self.fc(x) + x), 0)  # a module made in the call

    def in_place(self, x):
        y = self.fc(x)
        y += x
        return self.relu(y)

    forward(in_place, 0)


def test_norms_and_relu():
    forward(lambda self, x: F.relu(self.norm(x)), ["layer_norm_relu"])
    no_grad = torch.no_grad()(lambda model: model(X.clone()))
    forward(lambda self, x: self.norm(self.relu(x)), 0)
    check(type("M", (Base,), {
        "forward": lambda self, x: self.norm(self.relu(x))
    }), ["relu_layer_norm"],
          call=no_grad)

    def changes_x_later(self, x):
        x = self.fc(x)
        x += self.norm(F.relu(x))
        return x

    forward(changes_x_later, 0)
    forward(changes_x_later, ["relu_layer_norm"], call=no_grad)

    def functional(self, x):
        return F.layer_norm(F.relu(x), (8,), None, self.fc.bias, 1e-3)

    forward(functional, ["relu_layer_norm"], call=no_grad)

    def in_place(self, x):
        return self.norm(F.relu(x, inplace=True))

    forward(in_place, 0, call=no_grad)
    check(lambda: nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 8), nn.GELU()),
          ["layer_norm_relu", "bias_gelu"])
    check(lambda: nn.Sequential(nn.ReLU(), nn.LayerNorm((4, 8)), nn.ReLU()), ["relu_layer_norm"],
          call=no_grad)
    autocast = torch.autocast("cpu", torch.bfloat16)(lambda model: model(X))
    forward(lambda self, x: F.relu(self.norm(self.fc(x))), 0,
            call=autocast)  # which PyTorch computes in float32


class Decoder(Base):
    """A block as in Llama: the sum is the next residual too."""

    def forward(self, x):
        residual = x
        x = self.fc(x)
        x = residual + x
        residual = x
        x = self.rms(x)
        x = self.act(self.out(x))
        return residual + x


def test_residual_and_norm():
    check(Decoder, ["residual_rms_norm", "bias_gelu"], "residual + x, self.rms")
    check(Decoder, ["residual_rms_norm"],
          call=lambda model: model(X.clone()),
          change=lambda model: setattr(model, "act", nn.SiLU()))
    check(Decoder, 1, change=lambda model: model.rms.register_forward_hook(lambda m, i, o: o * 2) and None)
    forward(lambda self, x: self.rms(x + self.fc(x)), ["residual_rms_norm"])

    def without_eps(self, x):
        s = x + self.fc(x)
        return F.rms_norm(s, (8,), self.rms.weight)

    forward(without_eps, ["residual_rms_norm"])

    def into_attribute(self, x):
        s = x + self.fc(x)
        self.kept = self.rms(s)
        return self.kept + s

    forward(into_attribute, ["residual_rms_norm"])

    def in_try(self, x):
        s = x
        try:
            s = x + self.fc(x)
            y = self.rms(s)
        except ValueError:
            return s
        return y + s

    forward(in_try, 0, "an error would leave another s to line")

    def both_in_one(self, x):
        s = x + self.fc(x)
        return self.rms(s) + s

    forward(both_in_one, 0, "is used again")


def test_dropout():
    for train in (True, False):

        def drop(self, x):
            return F.dropout(self.act(self.fc(x)), 0.5, self.training)

        forward(drop, 1, train=train)
        torch.manual_seed(0)
        model = type("M", (Base,), {"forward": drop})().train(train)
        workbook_ops.rewrite(model, dropout=True)
        with Operators() as called:
            y = model(X.repeat(100, 1))
        assert called.names == ["gelu_dropout" if train else "gelu"], called.names
        kept = (y != 0).float().mean().item()
        assert abs(kept - (0.5 if train else 1.0)) < 0.05, kept
    forward(lambda self, x: F.dropout(self.act(x), 0.0), ["gelu"], dropout=True)

    def in_statements(self, x):
        x = self.fc(x)
        x = self.act(x)
        x = F.dropout(x, 0.0)
        return self.out(x)
    forward(in_statements, ["gelu"], dropout=True)


# --- Classes that say the same ---


class GeluOfSomebody(nn.Module):
    def forward(self, hidden):
        """The same."""
        return nn.functional.gelu(hidden, approximate="tanh")


class NearlyGelu(nn.Module):
    def forward(self, hidden):
        return nn.functional.gelu(hidden, approximate="tanh") + 0


class Kept(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.kept = function

    def forward(self, x):
        return self.kept(x)


class Rms(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain, self.small = nn.Parameter(torch.linspace(0.5, 2, 8)), 1e-6

    def forward(self, h):
        kind = h.dtype
        h = h.to(torch.float32)
        v = h.pow(2).mean(-1, keepdim=True)
        h = h * torch.rsqrt(v + self.small)
        return self.gain * h.to(kind)


def test_classes_of_somebody():

    def with_act(act):
        def make():
            model = type("M", (Base,), {"forward": lambda self, x: self.act(self.fc(x))})()
            model.act = act()
            return model

        return make

    check(with_act(GeluOfSomebody), 1)
    check(lambda: nn.Sequential(nn.Linear(8, 8), GeluOfSomebody()), 1)
    check(with_act(NearlyGelu), 0, "a NearlyGelu is not known to be GELU")
    check(with_act(lambda: Kept(functools.partial(F.gelu, approximate="tanh"))), 1)
    check(with_act(lambda: Kept(F.gelu)), 0, change=lambda model: setattr(model.act, "kept", F.silu))
    check(with_act(lambda: Kept(F.silu)), 0)

    class Other(Decoder):

        def __init__(self):
            super().__init__()
            self.rms = Rms()

    check(Other, ["residual_rms_norm", "bias_gelu"])


# --- What a method is besides its statements ---


def test_inheritance():

    class A(Base):

        def forward(self, x):
            return self.act(self.fc(x))

    class B(A):
        pass

    class C(A):

        def forward(self, x):
            return self.act(self.out(super().forward(x)))

    check(B, 1)
    check(C, 1)  # that of A, which super() finds in A, stays as it is


class Mangled(Base):
    def __init__(self):
        super().__init__()
        self.__hidden = nn.Linear(8, 8)

    def __inner(self, x):
        return self.act(self.__hidden(x))

    def forward(self, x):
        return self.__inner(x) + self.act(self.__hidden(x))


def test_names_and_closures():
    check(Mangled, 2)
    scale, calls = 2.0, []

    class M(Base):

        def forward(self, x):
            nonlocal scale
            scale += 0.0
            calls.append(__class__)
            return self.act(self.fc(x)) * scale

    check(M, 1)
    assert set(calls) == {M}
    scale = 3.0
    check(M, 1)


def test_signature():

    class M(Base):
        def forward(self, x: torch.Tensor, /, factor: float = 2.0, *args, flag: bool = False,
                    **kwargs) -> torch.Tensor:
            """A text.

              With a line of its own.
            """
            text = """
        indented
"""
            assert len(text) == 18
            return self.act(self.fc(x)) * factor * (3 if flag is True else 1)

    after = check(M, 1, call=lambda model: model(X, 3.0, flag=True))
    assert inspect.signature(after.forward) == inspect.signature(M().forward)
    assert after.forward.__doc__ == M.forward.__doc__
    assert inspect.getsource(after.forward) == inspect.getsource(M.forward)
    assert after.forward.__func__.__qualname__ == M.forward.__qualname__


def test_decorated():

    def twice(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * 2

        return wrapper

    @torch.no_grad()
    @twice
    def decorated(self, x):
        return self.act(self.fc(x))

    assert not forward(decorated, 1)(X).requires_grad

    @torch.compile(backend="eager")
    def compiled(self, x):
        return self.act(self.fc(x))

    forward(compiled, 0, "compiled by torch.compile")

    @functools.lru_cache(1)
    def cached(self, x):
        return self.act(self.fc(x))

    forward(cached, 0, "not a function")


def test_sources_that_are_not_there():

    class N(Base):
        forward, other = (lambda self, x: self.act(self.fc(x))), (lambda self, x: 1)

    check(N, 0, "several functions begin on its line")
    space = {"Base": Base}
    exec("class M(Base):\n    def forward(self, x):\n        return self.act(self.fc(x))\n", space)
    check(space["M"], 0, "there is no source of it")
    text = ("from rewriting import Base\nclass M(Base):\n"
            "    def forward(self, x):\n        return self.act(self.fc(x))\n")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "edited.py")
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("edited", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        path.write_text(text.replace("(self.fc(x))", "(self.fc(x)) + 1"))
        linecache.checkcache()
        check(module.M, 0, "its source is not what was compiled")


def test_traceback():

    class M(Base):

        def forward(self, x):
            x = self.fc(x)
            x = self.act(x)
            return self.missing(self.act(self.fc(x)))

    old = M()
    new = copy.deepcopy(old)
    workbook_ops.rewrite(new)
    lines = []
    for each in (old, new):
        for argument in (X, X[:, :3]):
            try:
                each(argument)
            except (AttributeError, RuntimeError) as error:
                frames = traceback.extract_tb(error.__traceback__)
                lines.append([(frame.lineno, frame.line) for frame in frames
                              if frame.filename == __file__][1:])
    assert lines[0] == lines[2] and len(lines[1]) == 1, lines
    # Where the shapes are wrong, the Linear that waited is called in the line of the activation.
    assert lines[3][0][0] - lines[1][0][0] in (0, 1), lines


# --- What decides at run time ---


def test_regions():

    def autocast_off(self, x):
        with torch.autocast("cpu", enabled=False):
            return F.gelu(self.fc(x.float()))

    forward(autocast_off, 1, call=torch.autocast("cpu", torch.bfloat16)(lambda model: model(X)))

    def frozen(self, x):
        with torch.no_grad():
            x = self.fc(x)
            x = self.act(x)
        return self.out(x)

    forward(frozen, 1)

    def forces(self, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(self.act(self.fc(x)).sum(), x)[0]

    forward(forces, 1, call=torch.no_grad()(lambda model: model(X)))

    def penalty(self, x):  # a second derivative
        x = x.detach().requires_grad_()
        return torch.autograd.grad(self.act(self.fc(x)).sum(), x, create_graph=True)[0].square().sum()

    forward(penalty, 1)

    def half_frozen(self, x):
        h = self.fc(x)
        with torch.no_grad():
            return self.act(h)

    assert not forward(half_frozen, 0)(X).requires_grad


def test_saved_for_backward():

    def saved(self, x):
        return self.out(
            torch.utils.checkpoint.checkpoint(lambda x: self.act(self.fc(x)), x, use_reentrant=False))

    model, sizes = forward(saved, 1), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
        model(torch.randn(4096, 8, requires_grad=True))
    assert sum(sizes) <= 2 * 4096 * 8 + 200, sizes


def test_decisions():

    def depth(self, x):
        return x if random.random() < 0.5 else x + self.act(self.fc(x))

    forward(depth, 2, call=lambda model: torch.stack([random.seed(1), *map(model, [X] * 5)][1:]))

    class M(Base):

        def __init__(self):
            super().__init__()
            self.aux, self.cache, self.drop = [], {}, nn.Dropout(0.5)

        def forward(self, x, gate=False):
            if "h" in self.cache:
                x = x + self.cache["h"]
            try:
                if x.shape[0] > 2 and torch.is_tensor(x) and type(x) is torch.Tensor:
                    x = x * 2
            except Exception:
                pass
            h = self.act(self.fc(x * x.mask if hasattr(x, "mask") else x))
            self.aux.append(h.square().mean())
            self.cache["h"] = h.detach()
            return F.dropout(h * 2 if gate is True else h, 0.5, self.drop.training)

    after = check(M,
                  3,
                  call=lambda model: torch.stack([model(X, True) for _ in range(3)]),
                  change=lambda model: model.drop.eval())
    assert after.aux[0].requires_grad


class Lora(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.linear, self.weight, self.bias = linear, linear.weight, linear.bias

    def forward(self, x):
        return self.linear(x) + 1


class TimesTen(torch.Tensor):
    """A weight whose linear is another one, as a quantised weight's is."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__deepcopy__:
            return args[0].detach().as_subclass(torch.Tensor).clone().as_subclass(cls).requires_grad_()
        result = super().__torch_function__(function, types, args, kwargs)
        return 10 * result.as_subclass(torch.Tensor) if function is F.linear else result


def of_another_class(model):
    model.fc.weight = nn.Parameter(model.fc.weight.detach().as_subclass(TimesTen))


def test_changed_later():

    class M(Base):
        alpha = 1.0

        def forward(self, x):
            return self.alpha * self.act(self.fc(x))

    def normed(model):
        nn.utils.parametrizations.weight_norm(model.fc)
        model.fc.parametrizations.weight.original0.data.mul_(2)

    check(M, 1, change=lambda model: setattr(model, "alpha", 0.1))
    for change in (lambda model: model.act.register_forward_hook(lambda m, i, o: o * 2) and None,
                   lambda model: model.fc.register_forward_pre_hook(lambda m, i: (i[0] * 2,)) and None,
                   lambda model: nn.utils.weight_norm(model.fc) and None, normed, of_another_class,
                   lambda model: setattr(model, "fc", Lora(model.fc)),
                   lambda model: setattr(model, "act", nn.ReLU()),
                   lambda model: setattr(model.fc, "forward", lambda x: x)):
        check(M, 0, change=change)

    def make():
        return nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 8))

    check(make, 1, change=lambda model: model.append(model[0]))
    check(make, 0, change=lambda model: model.__setitem__(1, nn.SiLU()))
    check(make, 0, change=lambda model: model.__delitem__(0))


def test_changed_before():

    def model_with(change):
        def make():
            model = type("M", (Base,), {"forward": lambda self, x: self.act(self.fc(x))})()
            change(model)
            return model

        return make

    check(model_with(lambda model: model.act.register_forward_hook(lambda m, i, o: o * 2)), 0,
          "left M.forward (rewriting.py:")
    check(model_with(of_another_class), 0, "self.fc has a TimesTen")
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU())
    nn.utils.parametrizations.weight_norm(model[0])
    assert "left 1: 0 is a ParametrizedLinear, not a Linear" in str(workbook_ops.rewrite(model))


def test_operands_that_do_not_suit():

    class M(Base):

        def __init__(self):
            super().__init__()
            self.w, self.b = nn.Parameter(torch.randn(8)), nn.Parameter(torch.randn(1))

        def forward(self, x):
            return F.gelu(F.linear(x, self.w)).sum() + F.gelu(F.linear(x, self.fc.weight, self.b))

    check(M, 0)
    nested = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged)
    check(lambda: nn.Sequential(nn.Linear(8, 8), nn.GELU()),
          0,
          call=lambda model: model(nested).values().detach())
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU())
    after = copy.deepcopy(model)
    workbook_ops.rewrite(after)
    for wrong in (X[:, :3], X.double(), X.long(), torch.tensor(1.0), None):
        errors = [raised(lambda: each(wrong)) for each in (model, after)]
        assert errors[0] == errors[1] and errors[0], errors


def run(tests):
    """Runs the functions test_... of a module."""
    for name, test in list(tests.items()):
        if name.startswith("test_") and inspect.isfunction(test):
            with contextlib.ExitStack() as stack:
                stack.callback(torch._dynamo.reset)
                try:
                    test()
                    said = ""
                except Exception:
                    said = traceback.format_exc(limit=-3)
            expect(f"rewrite: {name.removeprefix('test_').replace('_', ' ')}", not said, said)


def main():
    torch.set_num_threads(1)
    run(globals())


if __name__ == "__main__":
    sys.modules["rewriting"] = sys.modules["__main__"]
    main()
