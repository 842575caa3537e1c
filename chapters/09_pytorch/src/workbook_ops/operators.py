"""The operators, with gradients. The package's documentation says what all of them have in common."""

from typing import Literal

import torch
from torch import Tensor

from . import kernels

Approximation = Literal["none", "tanh"]


def _in_autocast(device):
    return device in ("cpu", "cuda") and torch.is_autocast_enabled(device)  # of others it knows nothing


def _prepared(*tensors):
    """The tensors as the operator takes them, and whether autograd must know of the call.

    Under autocast, tensors of different types become those of the widest, as for PyTorch's own addcmul.
    """
    first = tensors[0]
    for other in tensors:
        if not isinstance(other, Tensor):
            return tensors, False  # the operator says which argument is wrong
        if other.dtype != first.dtype and _in_autocast(first.device.type):
            widest = torch.promote_types(first.dtype, other.dtype)
            return _prepared(*(tensor.to(widest) for tensor in tensors))
    wanted = torch.is_grad_enabled() and any([tensor.requires_grad for tensor in tensors])
    if wanted and torch.compiler.is_compiling():
        # If one tensor is two of the inputs, torch.compile of PyTorch 2.11 drops one of its gradients
        # (pytorch#181146). Two views of it are two tensors.
        tensors = tuple(tensor.view_as(tensor) for tensor in tensors)
    return tensors, wanted


def _use_tanh(op, approximate):
    if approximate == "none":
        return False
    if approximate == "tanh":
        return True
    raise ValueError(f'{op}: approximate must be "none" or "tanh", not {approximate!r}')


class _Once(torch.autograd.Function):
    """A backward operator whose own derivative raises. Without it, PyTorch would take that for 0."""

    @staticmethod
    def forward(ctx, operator, *inputs):
        return operator(*inputs)

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError("workbook_ops: a second derivative is not implemented")


def _gradient(operator, *inputs):
    """Calls a backward operator. torch.compile itself refuses second derivatives."""
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():  # that is, with create_graph=True
        return _Once.apply(operator, *inputs)
    return operator(*inputs)


# --- multiply_add ---


class _MultiplyAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        need_q, need_k, _ = ctx.needs_input_grad
        ctx.save_for_backward(q if need_k else None, k if need_q else None)
        return kernels.multiply_add(q, k, v)

    @staticmethod
    def backward(ctx, grad):
        q, k = ctx.saved_tensors
        if q is not None and k is not None:
            return *_gradient(kernels.multiply_add_backward, grad, q, k), grad
        return None if k is None else grad * k, None if q is None else grad * q, grad


def multiply_add(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """``q * k + v``. All three have one shape. Saves q if k needs a gradient, and k if q does."""
    (q, k, v), wanted = _prepared(q, k, v)
    return _MultiplyAdd.apply(q, k, v) if wanted else kernels.multiply_add(q, k, v)


# --- add_mul_exp ---


class _AddMulExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        result = kernels.add_mul_exp(x, y)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        grad = _gradient(kernels.add_mul_exp_backward, grad, *ctx.saved_tensors)
        return grad, grad


def add_mul_exp(x: Tensor, y: Tensor) -> Tensor:
    """``exp((x + y) * 2)``. Both have one shape. Saves the result."""
    (x, y), wanted = _prepared(x, y)
    return _AddMulExp.apply(x, y) if wanted else kernels.add_mul_exp(x, y)


# --- add_relu ---


class _AddRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        result = kernels.add_relu(a, b)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        grad = _gradient(kernels.add_relu_backward, grad, *ctx.saved_tensors)
        return grad, grad


def add_relu(a: Tensor, b: Tensor) -> Tensor:
    """``relu(a + b)``; a NaN stays one. Both have one shape. Saves the result."""
    (a, b), wanted = _prepared(a, b)
    return _AddRelu.apply(a, b) if wanted else kernels.add_relu(a, b)


# --- mul_tanh ---


class _MulTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return kernels.mul_tanh(a, b)

    @staticmethod
    def backward(ctx, grad):
        return _gradient(kernels.mul_tanh_backward, grad, *ctx.saved_tensors)


def mul_tanh(a: Tensor, b: Tensor) -> Tensor:
    """``tanh(a * b)``. Both have one shape. Saves a and b."""
    (a, b), wanted = _prepared(a, b)
    return _MulTanh.apply(a, b) if wanted else kernels.mul_tanh(a, b)


# --- gelu, bias_gelu ---


class _Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, tanh):
        ctx.save_for_backward(x)
        ctx.tanh = tanh
        return kernels.gelu(x, tanh)

    @staticmethod
    def backward(ctx, grad):
        return _gradient(kernels.gelu_backward, grad, *ctx.saved_tensors, ctx.tanh), None


def gelu(x: Tensor, approximate: Approximation = "none") -> Tensor:
    """``torch.nn.functional.gelu(x, approximate=approximate)``. Saves x."""
    tanh = _use_tanh("gelu", approximate)
    (x,), wanted = _prepared(x)
    return _Gelu.apply(x, tanh) if wanted else kernels.gelu(x, tanh)


class _BiasGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias, tanh):
        ctx.save_for_backward(x, bias)
        ctx.tanh = tanh
        return kernels.bias_gelu(x, bias, tanh)

    @staticmethod
    def backward(ctx, grad):
        return *_gradient(kernels.bias_gelu_backward, grad, *ctx.saved_tensors, ctx.tanh), None


def bias_gelu(x: Tensor, bias: Tensor, approximate: Approximation = "none") -> Tensor:
    """``gelu(x + bias)``, with a bias of shape ``x.shape[-1:]``. Saves x and bias.

    The gradient of bias is the sum of that of x over all other dimensions, in float32 for 16-bit types.
    """
    tanh = _use_tanh("bias_gelu", approximate)
    (x, bias), wanted = _prepared(x, bias)
    return _BiasGelu.apply(x, bias, tanh) if wanted else kernels.bias_gelu(x, bias, tanh)
