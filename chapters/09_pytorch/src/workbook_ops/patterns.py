"""The table of `rewrite`: which call whose result goes into which other one is an operator, and when.

For ``act(fc(x))``, `rewrite` puts ``second(act, first(fc, x))``. `first` returns a `Waiting` if its call is
of the table; `second` then calls the operator if that computes the same for what it was given, and
otherwise makes both calls as they stood there. So the source decides only where it is worth looking.
"""

import functools
import operator
import types
from typing import Any, Callable, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.autograd import forward_ad
from torch.fx.experimental import proxy_tensor
from torch.nn.modules import module as module_hooks
from torch.utils._device import DeviceContext

from . import operators

# --- What calls there are ---


class Row(NamedTuple):
    """A function, or a class of modules, that the table knows."""

    kind: str
    read: Callable[..., tuple[Any, ...] | None]
    """Its operands from the arguments of a call, after the module; x is the first. None: not of this kind."""
    needs: tuple[tuple[Any, str, Any], ...] = ()
    """(owner, name, value): what the owner's attribute must be, or the call does something else."""


def _module(kind, cls, function, read):
    """A module that does nothing but call a function of torch.nn.functional, which somebody may exchange."""
    needs = (cls, "forward", cls.forward), (F, function, getattr(F, function))
    return Row(kind, read, needs)


def _of_layer_norm(module, x):
    return x, module.normalized_shape, _own(module, "weight"), _own(module, "bias"), module.eps


def _own(module, name):
    """A parameter. In a replica of nn.DataParallel it is an attribute."""
    parameters = module._parameters
    return parameters[name] if name in parameters else getattr(module, name)


_RELU = Row("relu", lambda input, inplace=False: (input, inplace))
ROWS: dict[Any, Row] = {
    F.linear: Row("linear", lambda input, weight, bias=None: (input, weight, bias)),
    nn.Linear: _module("linear", nn.Linear, "linear", lambda m, x: (x, _own(m, "weight"), _own(m, "bias"))),
    F.gelu: Row("gelu", lambda input, approximate="none": (input, approximate)),
    nn.GELU: _module("gelu", nn.GELU, "gelu", lambda m, x: (x, m.approximate)),
    F.relu: _RELU,
    torch.relu: _RELU,
    nn.ReLU: _module("relu", nn.ReLU, "relu", lambda m, x: (x, m.inplace)),
    F.layer_norm: Row("layer_norm",
                      lambda input, normalized_shape, weight=None, bias=None, eps=1e-5:
                      (input, normalized_shape, weight, bias, eps)),
    nn.LayerNorm: _module("layer_norm", nn.LayerNorm, "layer_norm", _of_layer_norm),
    nn.RMSNorm: _module("rms_norm", nn.RMSNorm, "rms_norm", lambda m, x:
                        (x, m.normalized_shape, _own(m, "weight"), m.eps)),
    F.rms_norm: Row("rms_norm",
                    lambda input, normalized_shape, weight=None, eps=None:
                    (input, normalized_shape, weight, eps)),
    F.dropout: Row("dropout", lambda input, p=0.5, training=True, inplace=False: (input, p, training)),
    nn.Dropout: _module("dropout", nn.Dropout, "dropout", lambda m, x: (x, m.p, m.training)),
    operator.add: Row("sum", lambda a, b: (a, b)),
}

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_MODULE_CALL = nn.Module.__call__


def row_of(function: Any) -> Row | None:
    """The row of what is called. A module's is that of its class; a subclass may do more, so it has none."""
    return ROWS.get(function if type(function) in FUNCTIONS else type(function))


def is_plain(module: nn.Module) -> bool:
    """Whether a call of the module is the forward of its class and nothing else."""
    return not (module._forward_hooks or module._forward_pre_hooks or module._backward_hooks
                or module._backward_pre_hooks or "forward" in module.__dict__ or module._compiled_call_impl
                is not None or module_hooks._global_forward_hooks or module_hooks._global_forward_pre_hooks
                or module_hooks._global_backward_hooks or module_hooks._global_backward_pre_hooks)


def read(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, tuple[Any, ...]] | None:
    """The kind of a call, and its operands; None if the table does not know it as it is now."""
    if type(function) is functools.partial:
        return read(function.func, (*function.args, *args), {**function.keywords, **kwargs})
    row = row_of(function)
    if row is None:
        return None
    for owner, name, value in row.needs:
        if getattr(owner, name) is not value:
            return None
    if isinstance(function, nn.Module):
        # torch.export has a __call__ of its own.
        if not is_plain(function) or (type(function).__call__ is not _MODULE_CALL
                                      and not torch.compiler.is_compiling()):
            return None
        args = (function, *args)
    try:
        operands = row.read(*args, **kwargs)
    except TypeError:  # arguments that PyTorch will refuse, in its own words
        return None
    return None if operands is None else (row.kind, operands)


# --- Which operands suit an operator ---

# The last two are what torch.export, and torch.compile behind a backend, call a model with.
_TENSORS = (Tensor, nn.Parameter, FakeTensor, FunctionalTensor)
_TYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_MOST_ELEMENTS = 2**31 - 1
_HARMLESS_MODES = (DeviceContext, proxy_tensor.TorchFunctionMetadataMode,
                   proxy_tensor.PreDispatchTorchFunctionMode)


def _is_special():
    """Whether something looks on or transforms that knows PyTorch's own functions alone: torch.func, forward
    mode, torch.jit.trace, a TorchFunctionMode."""
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        return True
    if torch.compiler.is_compiling():
        return False
    depth = torch._C._len_torch_function_stack()
    return torch._C._get_tracing_state() is not None or depth > 0 and any(
        type(torch._C._get_function_stack_at(i)) not in _HARMLESS_MODES for i in range(depth))


def is_ordinary(tensor: Any) -> bool:
    """Whether it is a tensor that the operators take, and no subclass, which may have a linear of its own."""
    return (type(tensor) in _TENSORS and tensor.layout is torch.strided and not tensor.is_nested
            and tensor.dtype in _TYPES and (tensor.is_cpu or tensor.is_cuda))


def _fit(x, *others):
    """Whether they are ordinary tensors on one device. One that is None does not count."""
    if not is_ordinary(x) or _is_special():
        return False
    device = x.get_device()  # -1 for the CPU
    for each in others:
        if each is not None and not (is_ordinary(each) and each.get_device() == device):
            return False
    return True


def _are_alike(x, *others):
    """Whether they fit, have one type, and autocast would not change it."""
    if not _fit(x, *others) or operators.in_autocast(x):
        return False
    for each in others:
        if each is not None and each.dtype is not x.dtype:
            return False
    return torch.compiler.is_compiling() or x.numel() <= _MOST_ELEMENTS


def _are_rows(x, shape, *parameters):
    """Whether they are alike, not float64, and the parameters have the shape of the last dimensions of x."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if not _are_alike(x, *parameters) or x.dtype is torch.float64 or not 0 < len(shape) <= x.dim():
        return False
    for each in parameters:
        if each is not None and tuple(each.shape) != shape:
            return False
    return tuple(x.shape[x.dim() - len(shape):]) == shape


def _linear_gelu(x, weight, bias, approximate):
    if not _fit(x, weight, bias) or approximate not in ("none", "tanh"):
        return None
    sizes, shape, dtype = weight.shape, x.shape, weight.dtype
    if len(sizes) != 2 or not shape or shape[-1] != sizes[1] or sizes[1] == 0:
        return None
    if bias is not None and (bias.dtype is not dtype or tuple(bias.shape) != (sizes[0],)):
        return None
    if x.dtype is not dtype and not operators.in_autocast(x):
        return None
    if not torch.compiler.is_compiling() and x.numel() // sizes[1] * max(sizes) > _MOST_ELEMENTS:
        return None
    return operators.linear_gelu(x, weight, bias, approximate)


def _add_relu(a, b, inplace):
    return operators.add_relu(a, b) if _are_alike(a, b) and a.shape == b.shape else None


def _layer_norm_relu(x, shape, weight, bias, eps, inplace):
    return operators.layer_norm_relu(x, shape, weight, bias, eps) if _are_rows(x, shape, weight,
                                                                               bias) else None


def _relu_layer_norm(x, inplace, shape, weight, bias, eps):
    if inplace or not _are_rows(x, shape, weight, bias):
        return None
    if torch.is_grad_enabled():  # it saves x, and PyTorch relu(x): x may be changed in place later
        for each in (x, weight, bias):
            if each is not None and each.requires_grad:
                return None
    return operators.relu_layer_norm(x, shape, weight, bias, eps)


def _residual_rms_norm(a, b, shape, weight, eps):
    if weight is None or not _are_rows(a, shape, weight) or not _are_alike(a, b) or a.shape != b.shape:
        return None
    if eps is None:
        if a.dtype is not torch.float32:
            return None
        eps = torch.finfo(torch.float32).eps
    return operators.residual_rms_norm(a, b, weight, eps)


def _gelu_dropout(x, approximate, p, training):
    if not _are_alike(x) or x.dtype is torch.float64 or not 0 <= p <= 1 or approximate not in ("none",
                                                                                               "tanh"):
        return None
    return operators.gelu_dropout(x, p, training, approximate)


# --- The patterns ---


class Pattern(NamedTuple):
    """The operator of a pair. It gets the operands of both calls and returns None where it does not apply."""

    operator: Callable[..., Any]
    has_both: bool = False
    """Whether it returns the results of both calls, that of the second one first."""


Patterns = dict[tuple[str, str], Pattern]
PATTERNS: Patterns = {
    ("linear", "gelu"): Pattern(_linear_gelu),
    ("sum", "relu"): Pattern(_add_relu),
    ("layer_norm", "relu"): Pattern(_layer_norm_relu),
    ("relu", "layer_norm"): Pattern(_relu_layer_norm),
    ("sum", "rms_norm"): Pattern(_residual_rms_norm, has_both=True),
}
# Its random numbers are not PyTorch's, so it is there for who asks for it.
WITH_DROPOUT: Patterns = {**PATTERNS, ("gelu", "dropout"): Pattern(_gelu_dropout)}

# --- What stands in a forward that was rewritten ---


class Waiting:
    """A call that has not been made yet, because the next one may be part of it. Only `second` gets one."""

    __slots__ = ("kind", "operands", "call", "value")

    def __init__(self, kind, operands, call):
        self.kind, self.operands, self.call, self.value = kind, operands, call, None


def made(value: Any) -> Any:
    """The result of a call that may have waited."""
    if type(value) is not Waiting:
        return value
    if value.call is not None:
        function, args, kwargs = value.call
        value.value, value.call = function(*args, **kwargs), None
    return value.value


def first(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    found = read(function, args, kwargs)
    return function(*args, **kwargs) if found is None else Waiting(*found, (function, args, kwargs))


def _second(patterns):

    def second(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not args or type(args[0]) is not Waiting:
            return function(*args, **kwargs)
        waiting = args[0]
        found = read(function, args, kwargs)
        pattern = None if found is None else patterns.get((waiting.kind, found[0]))
        result = None if pattern is None else pattern.operator(*waiting.operands, *found[1][1:])
        if result is None:
            return function(made(waiting), *args[1:], **kwargs)
        if pattern.has_both:
            result, waiting.value = result
            waiting.call = None
        return result

    return second


def is_pair(patterns: Patterns, kind: str, module: Any, following: Any) -> bool:
    """Whether a call of that kind and the module are one. A GELU belongs to the dropout after it, where that
    is a pair: it saves more."""
    row, *next_row = map(row_of, (module, *following[:1]))
    if row is None or (kind, row.kind) not in patterns:
        return False
    taken = next_row[0] is not None and ("gelu", next_row[0].kind) in patterns if next_row else False
    return row.kind != "gelu" or not taken


def _sequential(patterns, second):

    def forward(self: Any, input: Any) -> Any:
        modules = list(self)
        for i, module in enumerate(modules):
            if type(input) is not Waiting:
                input = first(module, input)
            elif is_pair(patterns, input.kind, module, modules[i + 1:]):
                input = second(module, input)
            else:
                input = first(module, made(input))
        return made(input)

    forward.__wrapped__ = nn.Sequential.forward  # whose source torch.jit.script takes
    return forward


class Helpers(NamedTuple):
    """The functions that take a set of patterns."""

    patterns: Patterns
    first: Callable[..., Any]
    second: Callable[..., Any]
    made: Callable[..., Any]
    sequential: Callable[..., Any]
    """nn.Sequential.forward, with the pairs among its children."""


def _helpers(patterns):
    second = _second(patterns)
    return Helpers(patterns, first, second, made, _sequential(patterns, second))


HELPERS = {False: _helpers(PATTERNS), True: _helpers(WITH_DROPOUT)}
