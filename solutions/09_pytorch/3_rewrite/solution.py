"""Exercise 09.3, rewrite: replace Linear and GELU in a graph by one operator.

`fuse(graph_module)` gets a traced model (torch.fx). Its graph is a list of nodes: node.op says what kind a
node is ("call_module", "call_function", ...), node.target what is called, node.args and node.kwargs are its
arguments, and node.users are the nodes that use its result.

Make each Linear that only a GELU follows one call of given.linear_gelu(x, weight, bias, approximate):

- Both may be modules (nn.Linear, nn.GELU) or functions (F.linear, F.gelu), with positional or keyword
  arguments, with or without a bias, and with approximate="none" or "tanh".
- Where anything else uses the result of the Linear, nothing is replaced.
- A module may be called several times (tied weights), and each call counts.
- Parameters stay the model's own: the same objects, so that training reaches them.
- The rewritten model computes what it did before, even where another node changes x in place.

Goal: the graph has one node per pattern, in place of the two, and runs when graph_module is called.
"""

import torch.nn.functional as F
from torch import fx, nn

from given import linear_gelu


def argument(node, index, name, default=None):
    """An argument of a call, positional or by keyword."""
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


def is_call(node, kind, function, modules):
    """Whether a node calls a module of the class `kind`, or the function."""
    if not isinstance(node, fx.Node):
        return False
    if node.op == "call_module":
        return type(modules[node.target]) is kind
    return node.op == "call_function" and node.target is function


def fuse(graph_module: fx.GraphModule) -> None:
    """Replaces the pattern in place."""
    graph = graph_module.graph
    modules = dict(graph_module.named_modules(remove_duplicate=False))
    for gelu in list(graph.nodes):
        if not is_call(gelu, nn.GELU, F.gelu, modules):
            continue
        linear = argument(gelu, 0, "input")
        # BEGIN SOLUTION
        if not is_call(linear, nn.Linear, F.linear, modules) or len(linear.users) > 1:
            continue
        with graph.inserting_before(linear):  # what follows it may change x
            x, weight, bias = operands(graph, linear, modules)
            fused = graph.call_function(linear_gelu, (x, weight, bias, approximation(gelu, modules)))
        # SKELETON
        # # TODO: when may the two be replaced, by a call with which arguments, and where in the graph?
        # if not is_call(linear, nn.Linear, F.linear, modules):
        #     continue
        # with graph.inserting_before(gelu):
        #     weight, bias = (graph.get_attr(f"{linear.target}.{name}") for name in ("weight", "bias"))
        #     fused = graph.call_function(linear_gelu, (linear.args[0], weight, bias))
        # END SOLUTION
        gelu.replace_all_uses_with(fused)
        graph.erase_node(gelu)
        # BEGIN SOLUTION
        graph.erase_node(linear)
        # SKELETON
        # END SOLUTION
    graph.lint()
    graph_module.recompile()
# BEGIN SOLUTION


def operands(graph, linear, modules):
    """x, weight and bias of a Linear, as nodes."""
    if linear.op == "call_function":
        return tuple(argument(linear, i, name) for i, name in enumerate(("input", "weight", "bias")))
    weight = graph.get_attr(f"{linear.target}.weight")
    has_bias = modules[linear.target].bias is not None
    return argument(linear, 0, "input"), weight, graph.get_attr(f"{linear.target}.bias") if has_bias else None


def approximation(gelu, modules):
    """The approximation of a GELU: "none" or "tanh"."""
    if gelu.op == "call_module":
        return modules[gelu.target].approximate
    return gelu.kwargs.get("approximate", "none")  # F.gelu takes it by keyword alone
# SKELETON
# END SOLUTION
