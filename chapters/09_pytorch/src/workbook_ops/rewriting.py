"""A Linear and its GELU become `linear_gelu`: in a model (`rewrite`), or in torch.compile (`backend`)."""

import dataclasses
import functools
import inspect
import random
import types
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import fx, nn

from .operators import linear_gelu


@dataclasses.dataclass
class Report:
    """What `rewrite` has done. Its str() is a line for each entry."""

    replaced: list[str] = dataclasses.field(default_factory=list)
    """``"fc1, act"``: the Linear and the GELU that are one operator now."""
    left: list[str] = dataclasses.field(default_factory=list)
    """``"fc2, act: REASON"``: a GELU, or a whole module, that is as it was."""

    def add(self, other: "Report") -> None:
        """Adds the entries that are new."""
        self.replaced += [entry for entry in other.replaced if entry not in self.replaced]
        self.left += [entry for entry in other.left if entry not in self.left]

    def __str__(self) -> str:
        return "\n".join([f"replaced {entry}" for entry in self.replaced] +
                         [f"left {entry}" for entry in self.left])


# --- The pattern in a graph ---


def _is_altered(module):
    """Whether a call of it does more than the forward of its class."""
    return bool(module._forward_hooks or module._forward_pre_hooks or module._backward_hooks
                or module._backward_pre_hooks or "forward" in vars(module))


def _argument(node, index, name, default=None):
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def _is(node, kind, function, modules):
    """Whether the node calls that function, or a module of exactly that class: a subclass may do more."""
    if node.op == "call_module":
        return type(modules[node.target]) is kind
    return node.op == "call_function" and node.target is function


def _approximation(node, modules):
    if node.op == "call_module":
        return modules[node.target].approximate
    return _argument(node, 1, "approximate", "none")


def _name(node):
    return node.target if node.op == "call_module" else node.name


# What changes the mode of autograd or autocast, in a graph of torch.compile
_CHANGES = {torch._C._set_grad_enabled, torch.amp.autocast_mode._enter_autocast,
            torch.amp.autocast_mode._exit_autocast, torch.autograd.grad_mode._enter_inference_mode,
            torch.autograd.grad_mode._exit_inference_mode}


def _changes_between(first, last):
    while (first := first.next) is not last:
        if first.op == "call_function" and first.target in _CHANGES:
            return True
    return False


def _parameters(graph_module, linear, modules):
    """Those of the weight and the bias that the graph gets from the model."""
    if linear.op == "call_module":
        return [modules[linear.target].weight, modules[linear.target].bias]
    return [functools.reduce(getattr, each.target.split("."), graph_module)
            for each in linear.all_input_nodes if each.op == "get_attr"]


def _reason_to_leave(graph_module, node, linear, modules):
    """Why a GELU and what comes before it cannot be one operator; None if they can."""
    if not isinstance(linear, fx.Node) or not _is(linear, nn.Linear, F.linear, modules):
        return "its input does not come from a Linear"
    if len(linear.users) > 1:
        return "the result of the Linear is used elsewhere as well"
    for each in (linear, node):
        if each.op == "call_module" and _is_altered(modules[each.target]):
            return f"{_name(each)} has hooks or a forward of its own, which would not be called"
    for tensor in _parameters(graph_module, linear, modules):
        if type(tensor) not in (nn.Parameter, torch.Tensor, type(None)):
            return f"{_name(linear)} has a {type(tensor).__name__}, which may have a linear of its own"
    if _changes_between(linear, node):
        return "the mode of autograd or autocast changes between it and the Linear"
    return None


def _operands(graph, linear, modules):
    """x, weight and bias as nodes before the Linear. The bias may be None."""
    if linear.op == "call_module":
        has_bias = modules[linear.target].bias is not None
        return (_argument(linear, 0, "input"), graph.get_attr(f"{linear.target}.weight"),
                graph.get_attr(f"{linear.target}.bias") if has_bias else None)
    return tuple(_argument(linear, i, name) for i, name in enumerate(("input", "weight", "bias")))


def _fuse(graph_module, prefix=""):
    """Replaces the pattern in a graph, and reports the names of the nodes behind `prefix`."""
    report, graph = Report(), graph_module.graph
    modules = dict(graph_module.named_modules(remove_duplicate=False))  # a shared module has several names
    for node in list(graph.nodes):
        if not _is(node, nn.GELU, F.gelu, modules):
            continue
        linear = _argument(node, 0, "input")
        reason = _reason_to_leave(graph_module, node, linear, modules)
        if reason:
            report.left.append(f"{prefix}{_name(node)}: {reason}")
            continue
        # In the place of the Linear: what follows may change x.
        with graph.inserting_before(linear):
            operands = *_operands(graph, linear, modules), _approximation(node, modules)
            fused = graph.call_function(linear_gelu, operands)
        node.replace_all_uses_with(fused)
        graph.erase_node(node)
        graph.erase_node(linear)
        report.replaced.append(f"{prefix}{_name(linear)}, {prefix}{_name(node)}")
    graph.lint()
    graph_module.recompile()
    return report


def backend(graph_module: fx.GraphModule, example_inputs: list[Any], inner: str = "inductor",
            **options: Any) -> Callable[..., Any]:
    """A backend of torch.compile: ``torch.compile(model, backend=workbook_ops.backend)``.

    It puts `linear_gelu` into the graph and leaves the rest to the backend `inner`.
    """
    _fuse(graph_module)
    return torch._dynamo.lookup_backend(inner)(graph_module, example_inputs, **options)


# --- A model ---


class _NotTraced(Exception):
    """Says why a module has no graph that does the same."""


def _modes():
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"),
            torch.is_autocast_enabled("cuda"))


class _Tracer(fx.Tracer):
    proxy_buffer_attributes = True  # what a forward does to a buffer in place belongs to the graph

    def __init__(self):
        super().__init__()
        self.opened = set()  # names of the modules whose forward is in the graph
        self.closed = set()  # of those with modules in them that are called as a whole
        self.absent = set()  # names of the arguments that were None
        self.modes = {_modes()}

    def create_args_for_root(self, *args, **kwargs):
        """Arguments that are None by default are None in the graph: a placeholder never is."""
        function, values = super().create_args_for_root(*args, **kwargs)
        for i, value in enumerate(values):
            if isinstance(value, fx.Proxy) and value.node.args == (None,):
                self.absent.add(value.node.target)
                values[i] = None
        return function, values

    def create_node(self, *args, **kwargs):
        self.modes.add(_modes())
        return super().create_node(*args, **kwargs)

    def is_leaf_module(self, module, name):
        leaf = _is_altered(module) or super().is_leaf_module(module, name)
        if not leaf:
            self.opened.add(name)
        elif any(module.children()):
            self.closed.add(name)
        return leaf


def _attributes(module):
    return {(each, name): value for each in module.modules()
            for name, value in [*vars(each).items(), *each._parameters.items(), *each._buffers.items()]}


def _restore(module, before):
    """Takes back what tracing has set. Returns the names."""
    changed = [(each, name) for (each, name), value in _attributes(module).items()
               if before.get((each, name), before) is not value]
    for each, name in changed:
        if (each, name) in before:
            setattr(each, name, before[each, name])
        else:
            delattr(each, name)
    return [name for _, name in changed]


def _random_state():
    """Of what a forward may draw from, in a form that can be compared."""
    on_gpus = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return random.getstate(), *(state.tolist() for state in (torch.get_rng_state(), *on_gpus))


def _trace(module):
    """The graph of a module, and its tracer. \\raises _NotTraced"""
    tracer, before, drawn = _Tracer(), _attributes(module), _random_state()
    try:
        graph = tracer.trace(module)
    except Exception as error:  # a forward of any kind may raise any
        said = str(error).partition("\n")[0]
        raise _NotTraced(f"it cannot be traced ({type(error).__name__}: {said})") from None
    finally:
        changed = _restore(module, before)
    if any(name.startswith("_tensor_constant") for name in changed):  # torch.rand(3) would never change again
        raise _NotTraced("its forward makes tensors that do not depend on its inputs")
    if changed:
        raise _NotTraced(f"its forward sets the attribute {changed[0]}")
    if len(tracer.modes) > 1:  # a graph has no torch.no_grad()
        raise _NotTraced("its forward changes the mode of autograd or autocast")
    if _random_state() != drawn:  # what was drawn decided what the graph is
        raise _NotTraced("its forward draws random numbers while it is traced")
    return graph, tracer


class _Forward:
    """The forward of a module for one mode, training or evaluation, with the pattern replaced."""

    def __init__(self, module, training, prefix):
        for each in module.modules():
            each.training = training
        graph, tracer = _trace(module)
        graph_module = fx.GraphModule(module, graph, type(module).__name__)
        self.opened, self.closed, self.absent = tracer.opened, tracer.closed, tracer.absent
        self.report = _fuse(graph_module, prefix)
        self.code = graph_module.code
        self.function = type(graph_module).forward


def _exchange_forward(module, evaluation, training):
    original = type(module).forward
    in_evaluation, in_training = evaluation.function, training.function
    # Tracing has made constants of self.training. They are right while all modules have the same mode.
    watched = sorted(evaluation.opened | training.opened) if evaluation.code != training.code else []
    # So is what forward does where an argument is None, while the same arguments are None.
    _, *names = inspect.signature(original).parameters
    absent = evaluation.absent

    @functools.wraps(original)
    def forward(self, *args, **kwargs):
        if (any((value is None) != (name in absent) for name, value in (*zip(names, args), *kwargs.items()))
                or any(self.get_submodule(name).training is not self.training for name in watched)):
            return original(self, *args, **kwargs)
        return (in_training if self.training else in_evaluation)(self, *args, **kwargs)

    module.forward = types.MethodType(forward, module)


def _rewrite(module, prefix, report):
    where = prefix.removesuffix(".") or "the model itself"
    if "forward" in vars(module):
        report.left.append(f"{where}: its forward has been exchanged before")
        return
    modes = {each: each.training for each in module.modules()}
    try:
        forwards = [_Forward(module, training, prefix) for training in (False, True)]
    except _NotTraced as error:
        report.left.append(f"{where}: {error}")
        return _rewrite_children(module, prefix, report)
    finally:
        for each, mode in modes.items():
            each.training = mode
    for each in forwards:
        report.add(each.report)
    if any(each.report.replaced for each in forwards):
        _exchange_forward(module, *forwards)
    for name in sorted(forwards[0].closed | forwards[1].closed):
        _rewrite_closed(module.get_submodule(name), f"{prefix}{name}", report)


def _rewrite_children(module, prefix, report):
    for name, child in module.named_children():
        if isinstance(child, (nn.ModuleList, nn.ModuleDict)):
            _rewrite_children(child, f"{prefix}{name}.", report)
        else:
            _rewrite_closed(child, f"{prefix}{name}", report)


def _rewrite_closed(module, name, report):
    """A module that is called as a whole: because of a hook, or because another one cannot be traced."""
    if not fx.Tracer().is_leaf_module(module, name):
        _rewrite(module, f"{name}.", report)
    elif any(type(each) is nn.Linear for each in module.children()):
        kind = type(module).__name__
        report.left.append(f"{name}: torch.fx does not look into {kind} of torch.nn; torch.compile does")


def rewrite(model: nn.Module) -> Report:
    """Replaces each Linear that only a GELU follows by `linear_gelu`, in place, and reports what it did.

    Modules and functions count, ``nn.Linear`` and ``F.linear``, ``nn.GELU`` and ``F.gelu`` of both kinds. The
    model keeps its class, its parameters and its state_dict: only ``forward`` is exchanged, in the largest
    modules that torch.fx can trace. Training and evaluation each have their graph, so both work, and so do
    gradients. A pattern is left where something else needs the Linear's result, and where a hook or a
    parametrisation would not be called.

    What ``forward`` reads of attributes other than ``training`` is fixed by this call, so is what it decides
    by the types of its arguments or by torch.is_grad_enabled(), and what it does besides computing, such as
    printing, is left out. So rewrite a model when it is complete. Where other arguments are None than by
    default, the old ``forward`` is called. The model can be copied by copy.deepcopy but not pickled; save its
    state_dict. Replicas of nn.DataParallel would compute with the parameters of the first.
    """
    report = Report()
    _rewrite(model, "", report)
    return report
