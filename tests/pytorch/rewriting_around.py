"""What check_ops.py runs in the Python that has PyTorch: what is done with a model that was rewritten, and
graphs of torch.fx."""

import contextlib
import copy
import io
import pathlib
import pickle
import re
import threading
import warnings

import torch
import torch.nn.functional as F
import workbook_ops
from rewriting import X, Base, Operators, check, raised, run
from torch import nn
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from workbook_ops import restore, rewrite


class Plain(Base):
    def forward(self, x):
        h = self.fc(x)
        h = self.act(h)
        return self.out(F.gelu(self.fc(h), approximate="tanh"))


def make():
    """A model and a rewritten copy of it, with three calls of `linear_gelu`."""
    torch.manual_seed(0)
    before = nn.Sequential(nn.Linear(8, 8), nn.GELU(), Plain())
    after = copy.deepcopy(before)
    rewrite(after)
    return before, after


def close(one, other, **limits):
    torch.testing.assert_close(one, other, **{"rtol": 1e-5, "atol": 1e-5, **limits})


def fused_calls(model, x=X):
    with Operators() as called:
        model(x)
    return len(called.names)


# --- Classes and copies ---


def test_class_and_state():
    before, after = make()
    assert isinstance(after[2], Plain) and type(after[2]).__name__ == "Plain" and repr(after) == repr(before)
    assert type(after[2]).__module__ == Plain.__module__ and type(after[2]) is not Plain  # the price
    assert list(after.state_dict()) == list(before.state_dict())
    after.load_state_dict(before.state_dict())
    before.load_state_dict(after.state_dict())
    restore(after)
    assert type(after[2]) is Plain and type(after) is nn.Sequential and fused_calls(after) == 0
    rewrite(after), rewrite(after)
    assert type(after[2]).__mro__[2] is Plain and fused_calls(after) == 3
    assert raised(lambda: rewrite(5)) == (TypeError, "rewrite: model must be an nn.Module, not int")
    assert raised(lambda: restore(5)) == (TypeError, "restore: model must be an nn.Module, not int")
    assert str(rewrite(nn.Linear(8, 8))) == "nothing to replace"


def test_metaclass_and_other_instances():
    made = []

    class Meta(type):

        def __init__(cls, *args):
            made.append(cls)
            super().__init__(*args)

    class M(Base, metaclass=Meta):

        def __init__(self, act=nn.GELU):
            super().__init__()
            self.act = act()

        def __init_subclass__(cls, **kwargs):
            raise AssertionError("no new subclass was written")

        def forward(self, x):
            return self.act(self.fc(x))

    check(M, 1)
    assert made == [M]
    both = nn.Sequential(M(), M(nn.ReLU))
    before = copy.deepcopy(both)
    rewrite(both)
    assert type(both[0]) is not M and type(both[1]) is M
    close(both(X), before(X))


def test_copies():
    before, after = make()
    for copied in (copy.deepcopy(after), copy.copy(after),
                   *(pickle.loads(pickle.dumps(after, protocol))
                     for protocol in range(pickle.HIGHEST_PROTOCOL + 1))):
        assert fused_calls(copied) == 3 and isinstance(copied[2], Plain)
        close(copied(X), before(X))
    independent = copy.deepcopy(after)
    independent[0].weight.data.zero_()
    assert not torch.equal(independent(X), after(X))
    close(after(X), before(X))
    shallow = copy.copy(after[2])
    shallow._modules = {**after[2]._modules, "out": nn.Identity()}
    assert not torch.equal(shallow(X), after[2](X))
    file = io.BytesIO()
    torch.save(after, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert fused_calls(loaded) == 3 and torch.equal(loaded(X), after(X))
    restore(after)
    assert b"workbook" not in pickle.dumps(after)


class WithState(Base):
    """Has a state of its own and a reference to what it is in."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(Plain())
        object.__setattr__(self.inner[0], "owner", self)

    def forward(self, x):
        return self.act(self.fc(self.inner(x)))

    def __getstate__(self):
        return {**self.__dict__, "pickled": True}


def test_copies_of_states():
    model = WithState()
    before = model(X)
    rewrite(model)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.inner[0].owner is copied and copied.pickled and fused_calls(copied) == 3
        close(copied(X), before)


# --- Transforms ---


def test_compile():
    for dynamic in (False, True):
        torch._dynamo.reset()
        before, after = make()
        graphs = []

        def backend(graph, inputs):
            graphs.append([node for node in graph.graph.nodes if "workbook_ops" in str(node.target)])
            return graph

        compiled = torch.compile(after, fullgraph=True, backend=backend, dynamic=dynamic)
        for rows in (4, 5, 7):
            y = torch.randn(rows, 8)
            with torch.no_grad():
                close(compiled(y), before(y))
        assert len(graphs) == (1 if dynamic else 3) and len(graphs[0]) == 3, graphs
        for each in (before, after):
            each[2].act.register_forward_hook(lambda m, i, o: o * 2)
        torch._dynamo.reset()
        close(compiled(X), before(X))
    before, after = make()
    torch.compile(after, fullgraph=True)(X).sum().backward()
    before(X).sum().backward()
    for a, b in zip(before.parameters(), after.parameters()):
        close(b.grad, a.grad, rtol=1e-4)


def test_compiled_before():
    before, _ = make()
    model = copy.deepcopy(before)
    compiled = torch.compile(model, backend="eager")
    with torch.no_grad():
        close(compiled(X), before(X))
        assert "replaced _orig_mod.0, _orig_mod.1" in str(rewrite(compiled))
        assert fused_calls(model) == 3
        close(compiled(X), before(X))


def test_export():
    before, after = make()
    for strict in (False, True):
        program = torch.export.export(after, (X,),
                                      dynamic_shapes=({
                                          0: torch.export.Dim("rows", min=2, max=1000)
                                      },),
                                      strict=strict)
        close(program.module()(X[:3]), before(X[:3]))
        found = [
            str(node.target) for each in program.graph_module.modules() if hasattr(each, "graph")
            for node in each.graph.nodes if "gelu" in str(node.target)
        ]
        assert found == ["workbook_ops.bias_gelu.default"] * 3, found


def test_script_and_trace():
    before, after = make()
    close(torch.jit.script(after)(X), before(X))
    close(torch.jit.trace(after, X)(X), before(X))
    close(torch.fx.symbolic_trace(after)(X), before(X))
    with torch.no_grad():
        check(lambda: torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.GELU())), 0,
              "a ScriptModule has no source")
    check(lambda: torch.fx.symbolic_trace(Plain()), 0, "a GraphModule is changed by fuse()")


def test_functional_calls():
    before, after = make()
    doubled = {name: value.detach() * 2 for name, value in before.named_parameters()}

    def of_parameters(model):
        return lambda parameters: torch.func.functional_call(model, parameters, X).sum()

    close(of_parameters(after)(doubled), of_parameters(before)(doubled), atol=1e-3)
    for derivative in (torch.func.grad, torch.func.jacrev):
        close(derivative(of_parameters(after))(doubled),
              derivative(of_parameters(before))(doubled),
              atol=1e-4)
    close(torch.vmap(after)(X), before(X))
    close(torch.func.jvp(after, (X,), (X,)), torch.func.jvp(before, (X,), (X,)), rtol=1e-4)
    y = X.clone().requires_grad_()
    seconds = []
    for each in (before, after):
        first, = torch.autograd.grad(each(y).sum(), y, create_graph=True)
        seconds.append(torch.autograd.grad(first.square().sum(), y)[0])
    close(*seconds, rtol=1e-4)


def test_autocast():
    before, after = make()
    with torch.autocast("cpu", torch.bfloat16):
        a, b = before(X), after(X)
        assert fused_calls(after) == 3 and a.dtype == b.dtype
    close(b, a, rtol=0.1, atol=0.02)


def test_distributed():
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo",
                                             rank=0,
                                             world_size=1,
                                             store=torch.distributed.HashStore())
    before, after = make()
    results = []
    for each in (before, after):
        model = nn.parallel.DistributedDataParallel(each, find_unused_parameters=True)
        for _ in range(3):
            model.zero_grad()
            loss = model(X).square().sum()
            loss.backward()
            torch.optim.SGD(model.parameters(), 1e-2).step()
        results.append(loss.item())
    assert abs(results[0] - results[1]) < 1e-4, results
    assert len(rewrite(nn.parallel.DistributedDataParallel(make()[0])).replaced) == 3
    from torch.distributed.fsdp import fully_shard
    for late in (False, True):
        before, after = make()
        if late:
            restore(after)
        mesh = torch.distributed.init_device_mesh("cpu", (1,))
        fully_shard(after[2], mesh=mesh), fully_shard(after, mesh=mesh)
        if late:
            rewrite(after)
        close(after(X), before(X))
        assert isinstance(after[2], Plain) and fused_calls(after) == 3
    torch.distributed.destroy_process_group()


def test_replica_of_data_parallel():
    _, after = make()
    replica = after[2]._replicate_for_data_parallel()
    for name, child in after[2].named_children():
        other = child._replicate_for_data_parallel()
        for key, value in child._parameters.items():
            setattr(other, key, value.detach() * 0)
        replica._modules[name] = other
    assert replica(X).abs().max() == 0 and after[2](X).abs().max() > 0


class Twice(nn.Module):
    def forward(self, weight):
        return weight * 2


def test_parametrised_block():

    class M(Base):

        def __init__(self):
            super().__init__()
            self.gain = nn.Parameter(torch.ones(8))

        def forward(self, x):
            return self.act(self.fc(x)) * self.gain

    def parametrised(model):
        return nn.utils.parametrize.register_parametrization(model, "gain", Twice())

    check(M, 1, change=lambda model: parametrised(model) and None)
    check(lambda: parametrised(M()), 0, "torch.nn.utils.parametrize has made its class")


def test_quantised_later():
    before, after = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, after = (torch.ao.quantization.quantize_dynamic(each, {nn.Linear})
                         for each in (before, after))
    close(after(X), before(X))


def test_class_changed_later():

    class M(Base):

        def forward(self, x):
            return self.act(self.fc(x))

    model = M()
    rewrite(model)
    M.forward = lambda self, x: x
    assert not torch.equal(model(X), X)  # documented
    restore(model)
    assert torch.equal(model(X), X)


def test_threads():
    before, after = make()
    results, errors = [], []

    def work(model):
        try:
            rewrite(model)
            results.extend(model(X) for _ in range(50))
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(target=work, args=(each,))
        for each in (after, after, *(make()[0] for _ in range(4)))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not errors, errors
    for each in results:
        close(each, before(X))


def test_global_hooks_and_patches():
    before, after = make()
    seen = []
    hook = nn.modules.module.register_module_forward_hook(lambda m, i, o: seen.append(type(m).__name__))
    before(X)
    expected, seen[:] = list(seen), []
    after(X)
    hook.remove()
    assert seen == expected
    for name in ("linear", "gelu"):
        original = getattr(F, name)
        setattr(F, name, lambda *args, **kwargs: original(*args, **kwargs) * 2)
        try:
            close(after(X), before(X))
            torch._dynamo.reset()
            close(torch.compile(after, backend="eager")(X), before(X))
        finally:
            setattr(F, name, original)


class CountsLinear(torch.overrides.TorchFunctionMode):
    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.count += function is F.linear
        return function(*args, **(kwargs or {}))


def test_modes_of_functions():
    before, after = make()
    counts = []
    for each in (before, after):
        with CountsLinear() as mode:
            each(X)
        counts.append(mode.count)
    assert counts[0] == counts[1] == 4, counts
    with torch.device("cpu"):
        assert fused_calls(after) == 3


def test_modules_of_torch():

    def layer(kind=nn.TransformerEncoderLayer, **options):
        return lambda: kind(8, 2, 16, **{"activation": "gelu", "batch_first": True, **options})

    check(layer(), 1, call=lambda model: model(X[None]))
    check(layer(activation=F.gelu), 1, call=lambda model: model(X[None]))
    check(layer(nn.TransformerDecoderLayer), 1, call=lambda model: model(X[None], X[None]))
    check(layer(), 0, train=False, call=torch.no_grad()(lambda model: model(X[None])))  # its own fast path


# --- Graphs ---


def from_fx(function, **layers):

    class M(nn.Module):

        def __init__(self):
            super().__init__()
            for name, layer in layers.items():
                self.add_module(name, layer)

        forward = function

    return torch.fx.symbolic_trace(M())


def test_fuse():
    graph = torch.fx.symbolic_trace(make()[0])
    before = copy.deepcopy(graph)
    report = workbook_ops.fuse(graph)
    assert report.replaced == ["0, 1", "2.fc, 2.act", "2.fc, gelu"] and not report.left, report
    close(graph(X), before(X))
    assert fused_calls(graph) == 3
    report = workbook_ops.fuse(
        from_fx(lambda self, x: (lambda y: F.gelu(y) + y)(self.up(x)), up=nn.Linear(8, 8)))
    assert report.left == ["gelu: the result of the Linear is used elsewhere as well"], report
    hooked = nn.Linear(8, 8)
    hooked.register_forward_hook(lambda module, inputs, y: 2 * y)
    report = workbook_ops.fuse(from_fx(lambda self, x: F.gelu(self.up(x)), up=hooked))
    assert "up has hooks" in report.left[0], report

    def changes_its_input(self, x):
        y = self.up(x)
        x.zero_()
        return F.gelu(y)

    graph = from_fx(changes_its_input, up=nn.Linear(8, 8))
    wanted = graph(X.clone())
    assert workbook_ops.fuse(graph).replaced
    with torch.no_grad():
        close(graph(X.clone()), wanted)


class Loose(nn.Module):
    """A weight of one dimension and a bias that is broadcast, which F.linear takes."""

    def __init__(self):
        super().__init__()
        self.w, self.m = nn.Parameter(torch.randn(8)), nn.Parameter(torch.randn(6, 8))
        self.b = nn.Parameter(torch.randn(1))

    def forward(self, x):
        return F.gelu(F.linear(x, self.w)).sum() + F.gelu(F.linear(x, self.m, self.b))


def half_frozen(x, weight):
    y = F.linear(x, weight)
    with torch.no_grad():
        return F.gelu(y)


def test_backend():
    found = []

    def count(graph, inputs):
        found.append(sum("workbook_ops" in str(node.target) for node in graph.graph.nodes))
        return make_boxed_func(graph)

    def backend(graph, inputs):
        return workbook_ops.backend(graph, inputs, inner=aot_autograd(fw_compiler=count))

    encoder = nn.TransformerEncoderLayer(8, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
    for model, calls in ((make()[0], 3), (encoder, 1), (Loose(), 0)):
        torch._dynamo.reset()
        results, found[:] = [], []
        for each in (model, torch.compile(copy.deepcopy(model), backend=backend, fullgraph=True)):
            y = each(X[None])
            y.square().sum().backward()
            results.append([y, *(parameter.grad for parameter in each.parameters())])
        close(*results, rtol=1e-4)
        assert found[0] == calls, found
    backend = workbook_ops.backend
    weight = torch.randn(8, 8, requires_grad=True)
    assert not torch.compile(half_frozen, backend=backend)(X, weight).requires_grad
    nested = torch.nested.nested_tensor([torch.randn(3, 8), torch.randn(5, 8)], layout=torch.jagged)
    model = make()[0][:2]
    for options in ({"mode": "reduce-overhead"}, {"options": {"epilogue_fusion": True}}):
        torch._dynamo.reset()
        compiled = torch.compile(model, backend=backend, **options)
        close(compiled(X), model(X))
    close(compiled(nested).values(), model(nested).values())
    said = raised(lambda: torch.compile(model, backend=backend, mode="fast")(X))
    assert said and "fast" in said[1], said


# --- Pages ---


def test_readmes():
    """The examples of the READMEs print the output that stands below them."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for page in (root / "README.md", root / "chapters/09_pytorch/README.md"):
        block = r"((?:(?!```).*\n)*)```\n"
        quoted = re.findall(f"^```python\n{block}\n```text\n{block}", page.read_text(), re.M)
        assert quoted
        for code, wanted in quoted:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, {"torch": torch, "workbook_ops": workbook_ops})
            assert printed.getvalue() == wanted, printed.getvalue()


def main():
    torch.set_num_threads(1)
    run(globals())


if __name__ == "__main__":
    main()
