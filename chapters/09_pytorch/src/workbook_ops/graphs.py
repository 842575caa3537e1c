"""`linear_gelu` in graphs of torch.fx: `fuse` for one that exists, `backend` for those of torch.compile."""

from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import fx, nn

from . import patterns
from .rewriting import Report

# What changes the mode of autograd or autocast, in a graph of torch.compile
_CHANGES = {
    torch._C._set_grad_enabled, torch.amp.autocast_mode._enter_autocast,
    torch.amp.autocast_mode._exit_autocast, torch.autograd.grad_mode._enter_inference_mode,
    torch.autograd.grad_mode._exit_inference_mode
}
_LINEAR_GELU = patterns.PATTERNS["linear", "gelu"].operator


def _linear_gelu(x: Any, weight: Any, bias: Any, approximate: str) -> Any:
    """The operator where it takes these tensors, or else the two functions of PyTorch."""
    result = _LINEAR_GELU(x, weight, bias, approximate)
    return F.gelu(F.linear(x, weight, bias), approximate=approximate) if result is None else result


def _changes_between(first, last):
    while (first := first.next) is not last:
        if first.op == "call_function" and first.target in _CHANGES:
            return True
    return False


class _Graph:
    def __init__(self, graph_module: fx.GraphModule) -> None:
        self.graph = graph_module.graph
        self.modules = dict(graph_module.named_modules(remove_duplicate=False))  # shared: several names

    def called(self, node):
        """The function or the module that a node calls."""
        if node.op == "call_module":
            return self.modules[node.target]
        return node.target if node.op == "call_function" else None

    def is_(self, node, module, function):
        """Whether the node calls that function, or a module of exactly that class: a subclass may do more."""
        if not isinstance(node, fx.Node):
            return False
        return type(self.called(node)) is module or self.called(node) is function

    def name(self, node):
        return node.target if node.op == "call_module" else node.name

    def reason_to_leave(self, linear, gelu):
        """Why a GELU and what comes before it cannot be one operator; None if they can."""
        if not self.is_(linear, nn.Linear, F.linear):
            return "its input does not come from a Linear"
        if len(linear.users) > 1:
            return "the result of the Linear is used elsewhere as well"
        for each in (linear, gelu):
            if each.op == "call_module" and not patterns.is_plain(self.called(each)):
                return f"{self.name(each)} has hooks or a forward of its own, which would not be called"
        if _changes_between(linear, gelu):
            return "the mode of autograd or autocast changes between it and the Linear"
        return None

    def operands(self, linear, gelu):
        """x, weight, bias and the kind of GELU, as nodes before the Linear."""

        def argument(node, index, name, default=None):
            return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)

        approximate = (self.called(gelu).approximate if gelu.op == "call_module" else argument(
            gelu, 1, "approximate", "none"))
        names = "input", "weight", "bias"
        if linear.op == "call_function":
            return *(argument(linear, i, name) for i, name in enumerate(names)), approximate
        parameters = (self.graph.get_attr(f"{linear.target}.{name}")
                      if getattr(self.called(linear), name) is not None else None for name in names[1:])
        return argument(linear, 0, "input"), *parameters, approximate

    def replace(self, linear, gelu):
        with self.graph.inserting_before(linear):  # in its place: what follows may change x
            fused = self.graph.call_function(_linear_gelu, self.operands(linear, gelu))
        fused.meta = dict(gelu.meta)
        gelu.replace_all_uses_with(fused)
        self.graph.erase_node(gelu)
        self.graph.erase_node(linear)


def fuse(graph_module: fx.GraphModule) -> Report:
    """Replaces each Linear that only a GELU follows in a graph of torch.fx by `linear_gelu`, in place.

    A graph has the modes of autograd and autocast that it was recorded with, and no hooks of modules. Tensors
    that the operator does not take go to PyTorch's two functions, as before.
    """
    report, graph = Report(), _Graph(graph_module)
    for gelu in list(graph.graph.nodes):
        if not graph.is_(gelu, nn.GELU, F.gelu):
            continue
        linear = gelu.args[0] if gelu.args else gelu.kwargs.get("input")
        reason = graph.reason_to_leave(linear, gelu)
        if reason:
            report.left.append(f"{graph.name(gelu)}: {reason}")
            continue
        report.replaced.append(f"{graph.name(linear)}, {graph.name(gelu)}")
        graph.replace(linear, gelu)
    graph.graph.lint()
    graph_module.recompile()
    return report


def backend(graph_module: fx.GraphModule,
            example_inputs: list[Any],
            inner: str = "inductor",
            mode: str | None = None,
            options: dict[str, Any] | None = None) -> Callable[..., Any]:
    """A backend of torch.compile: ``torch.compile(model, backend=workbook_ops.backend)``.

    It puts `linear_gelu` into the graph (`fuse`) and leaves the rest to the backend `inner`, with the mode
    and options of torch.compile. Inductor fuses the other pairs of `rewrite` by itself.
    """
    fuse(graph_module)
    if inner != "inductor":
        given = {name: value for name, value in (("mode", mode), ("options", options)) if value}
        return torch._dynamo.lookup_backend(inner)(graph_module, example_inputs, **given)
    from torch._inductor import compile_fx, list_mode_options  # takes seconds
    settings = {**(list_mode_options(mode) if mode else {}), **(options or {})}
    return compile_fx.compile_fx(graph_module, example_inputs, config_patches=settings)
