"""Classes of modules that are an operation of the table by what their forward says.

A class that somebody has written is not `nn.GELU` or `nn.RMSNorm`, but its source may be that of a function
below, up to the names of variables and of the module's attributes. Then calls of it are read as that
operation.
"""

import ast
import functools
import math
import types
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import nn

from . import patterns
from .source import Left, read_source

# --- What the classes say ---


def _calls_an_attribute(self, x):
    return self.function(x)


def _gelu(self, x):
    return F.gelu(x)


def _gelu_tanh(self, x):
    return F.gelu(x, approximate="tanh")


def _gelu_by_tanh(self, x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def _gelu_by_fast_tanh(self, x):
    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


def _gelu_by_erf(self, x):
    return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))


def _rms_norm(self, x):
    dtype = x.dtype
    x = x.to(torch.float32)
    square = x.pow(2).mean(-1, keepdim=True)
    x = x * torch.rsqrt(square + self.eps)
    return self.weight * x.to(dtype)


def _transposed_linear(self, x):
    shape = x.size()[:-1] + (self.outputs,)
    x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
    x = x.view(shape)
    return x


# --- How calls of them are read ---


def _by_formula(approximate):
    """Autocast would compute parts of the formula in float32."""

    def read(attributes, module, x):
        return None if torch._C._is_any_autocast_enabled() else (x, approximate)

    return read


def _read_rms_norm(attributes, module, x):
    weight = getattr(module, attributes["weight"])
    return x, tuple(weight.shape), weight, getattr(module, attributes["eps"])


def _read_transposed_linear(attributes, module, x):
    weight, bias = getattr(module, attributes["weight"]), getattr(module, attributes["bias"])
    if (not patterns.is_ordinary(x) or not x.is_contiguous() or not patterns.is_ordinary(weight)
            or weight.dim() != 2 or weight.shape[1] != getattr(module, attributes["outputs"])):
        return None
    return x, weight.t(), bias


def _read_called(kind, attributes, module, x):
    found = patterns.read(module.__dict__.get(attributes["function"]), (x,), {})
    return found[1] if found is not None and found[0] == kind else None


_FORMULAS: list[tuple[str | None, types.FunctionType, Callable[..., Any]]] = [
    (None, _calls_an_attribute, _read_called),
    ("gelu", _gelu, lambda attributes, module, x: (x, "none")),
    ("gelu", _gelu_tanh, lambda attributes, module, x: (x, "tanh")),
    ("gelu", _gelu_by_tanh, _by_formula("tanh")),
    ("gelu", _gelu_by_fast_tanh, _by_formula("tanh")),
    ("gelu", _gelu_by_erf, _by_formula("none")),
    ("rms_norm", _rms_norm, _read_rms_norm),
    ("linear", _transposed_linear, _read_transposed_linear),
]


# --- Whether a forward says the same ---


def _value(node, function, variables):
    """The object that a name or an attribute of a module means outside the function; None if unknown."""
    if isinstance(node, ast.Name) and node.id not in variables:
        return function.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, function, variables)
        return vars(owner).get(node.attr) if isinstance(owner, types.ModuleType) else None
    return None


class _Comparison:
    """Whether two functions are the same but for names."""

    def __init__(self, ours, theirs):
        self.functions = ours, theirs
        self.names = {}  # a variable of ours, or "self.NAME": theirs
        self.nodes = [read_source(each).node for each in self.functions]
        self.variables = [{
            each.arg if isinstance(each, ast.arg) else each.id
            for each in ast.walk(node)
            if isinstance(each, ast.arg) or isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        } for node in self.nodes]
        arguments = [[each.arg for each in node.args.args] for node in self.nodes]
        bodies = [[
            each for each in node.body
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ] for node in self.nodes]
        self.same = (
            len(arguments[1]) == 2 and not theirs.__defaults__
            and not (self.nodes[1].args.vararg or self.nodes[1].args.kwarg or self.nodes[1].args.kwonlyargs)
            and all(map(self._is_named, *arguments)) and self._equal(*bodies)
            and len(set(self.names.values())) == len(self.names))

    def _is_named(self, name, other):
        return self.names.setdefault(name, other) == other

    def _equal(self, one, other):
        if isinstance(one, list):
            return isinstance(other, list) and len(one) == len(other) and all(map(self._equal, one, other))
        if not isinstance(one, ast.AST):
            return type(one) is type(other) and one == other
        values = [
            _value(node, *rest) if isinstance(node, (ast.Name, ast.Attribute)) else None
            for node, *rest in zip((one, other), self.functions, self.variables)
        ]
        if values[0] is not None or values[1] is not None:
            return values[0] is values[1]
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.Name):
            return self._is_named(one.id, other.id)
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
            return self._equal(one.value, other.value) and self._is_named(f"self.{one.attr}",
                                                                          f"self.{other.attr}")
        return all(
            self._equal(getattr(one, field, None), getattr(other, field, None)) for field in one._fields)

    def attributes(self):
        return {
            ours.removeprefix("self."): theirs.removeprefix("self.")
            for ours, theirs in self.names.items() if ours.startswith("self.")
        }


@functools.cache
def _formula_of(forward):
    """(kind, how it is read, attributes) of the formula that a forward is; None if it is none of them. The
    kind is None where the forward calls an attribute, which may be one function or another."""
    try:
        for kind, formula, read in _FORMULAS:
            found = _Comparison(formula, forward)
            if found.same:
                return kind, read, found.attributes()
    except Left:
        pass
    return None


def learn(module: nn.Module) -> None:
    """Puts the class of the module into the table, if its forward is one of the formulas."""
    cls = type(module)
    if isinstance(module, torch.jit.ScriptModule) or cls in patterns.ROWS or not isinstance(
            cls.forward, types.FunctionType) or any(module.children()) or _lines(cls.forward) > 12:
        return
    formula = _formula_of(cls.forward)
    if formula is None:
        return
    kind, read, attributes = formula
    if kind is None:
        found = patterns.read(module.__dict__.get(attributes["function"]), (None,), {})
        if found is None:
            return
        kind, read = found[0], functools.partial(read, found[0])
    needs = (cls, "forward", cls.forward),
    patterns.ROWS[cls] = patterns.Row(kind, functools.partial(read, attributes), needs)


def _lines(function):
    return len({line for *_, line in function.__code__.co_lines() if line is not None})
