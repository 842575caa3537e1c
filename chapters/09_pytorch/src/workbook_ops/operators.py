"""The operators, with gradients. The package's documentation says what all of them have in common."""

import functools
from typing import Callable, Literal, ParamSpec, Sequence, TypeVar

import torch
import torch.nn.functional as F
from torch.autograd import forward_ad
from torch import Tensor
from torch.overrides import handle_torch_function, has_torch_function

from . import kernels

Approximation = Literal["none", "tanh"]
Backend = Literal["auto", "cublas", "custom"]
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def in_autocast(tensor: Tensor) -> bool:
    """Whether autocast is on for the device of a tensor: the CPU or a GPU."""
    if not torch._C._is_any_autocast_enabled():  # a tenth of the time of is_autocast_enabled(DEVICE)
        return False
    return (torch.is_autocast_enabled("cuda") if tensor.is_cuda
            else tensor.is_cpu and torch.is_autocast_enabled("cpu"))


def _wanted_outside(tensor):
    """Whether a tensor in torch.vmap, which itself never wants a gradient, is of one that does."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor.requires_grad


def _check_mode(tensors, wanted):
    """In forward mode, or in a transform of torch.func: raises where a derivative is wanted."""
    if forward_ad._current_level >= 0:
        wanted = wanted or any(forward_ad.unpack_dual(each).tangent is not None for each in tensors)
    else:
        wanted = wanted or any(map(_wanted_outside, tensors)) and torch.is_grad_enabled()
    if wanted:
        raise RuntimeError("workbook_ops: derivatives by torch.func (grad, vjp, jvp and the like), through "
                           "torch.vmap and in forward mode are not supported: use backward() or "
                           "torch.autograd.grad, or PyTorch's own operators")


def _check_tensors(op, *tensors):
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"{op}: tensor {i + 1} of {len(tensors)} must be a Tensor, not "
                               f"{type(tensor).__name__}")


def _prepared(op, *tensors):
    """The tensors as the operator takes them, and whether autograd must know of the call.

    Under autocast, tensors of different types become those of the widest, as for PyTorch's own addcmul.
    """
    dtype, wanted = None, False
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            _check_tensors(op, *tensors)
        if tensor.dtype is not dtype:
            if dtype is not None and in_autocast(tensors[0]):
                widest = torch.promote_types(dtype, tensor.dtype)
                return _prepared(op, *(each.to(widest) for each in tensors))
            dtype = tensor.dtype
        wanted = wanted or tensor.requires_grad
    wanted = wanted and torch.is_grad_enabled()
    if torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0:
        _check_mode(tensors, wanted)
    if wanted and torch.compiler.is_compiling():
        # If one tensor is two of the inputs, torch.compile of PyTorch 2.11 drops one of its gradients
        # (pytorch#181146). Two views of it are two tensors.
        tensors = tuple(tensor.view_as(tensor) for tensor in tensors)
    return tensors, wanted


def _traceable(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """An operator that torch.fx, and other classes with __torch_function__, can record as one call."""

    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if has_torch_function(args) or kwargs and has_torch_function(tuple(kwargs.values())):
            return handle_torch_function(call, (*args, *kwargs.values()), *args, **kwargs)
        return function(*args, **kwargs)

    return call


def _use_tanh(op, approximate):
    if approximate == "none":
        return False
    if approximate == "tanh":
        return True
    raise ValueError(f'{op}: approximate must be "none" or "tanh", not {approximate!r}')


class _Function(torch.autograd.Function):
    """An autograd.Function that takes less time to call."""

    def __init_subclass__(cls):
        cls._direct = super(torch.autograd.Function, cls).apply

    @classmethod
    def apply(cls, *inputs):
        """What PyTorch's own does, but for its preparations for torch.func: 1.5 us of Python on a CPU, where
        a call of `gelu` takes 8. torch.compile has a way of its own."""
        if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
            return super().apply(*inputs)
        return cls._direct(*inputs)


def _gradient(operator, by_pytorch, *inputs):
    """Calls a backward operator; for a second derivative (create_graph=True), PyTorch's own operators
    instead. torch.compile itself refuses second derivatives."""
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        return by_pytorch(*inputs)
    return operator(*inputs)


def _derivative(function, tensors):
    """A backward operator of PyTorch's own. It gets the gradient, then what `function` gets, which begins
    with so many tensors, and can be differentiated again."""

    def backward(grad, *inputs):
        with torch.autocast(grad.device.type, enabled=False), torch.enable_grad():
            result = function(*inputs)
        wanted = [each for each in inputs[:tensors] if each.requires_grad]
        found = iter(torch.autograd.grad(result, wanted, grad, create_graph=True))
        return tuple(next(found) if each.requires_grad else None for each in inputs[:tensors])

    return backward


def _pair(forward, backward, by_pytorch, tensors, saved):
    """An autograd Function of a forward and a backward operator, whose first `tensors` inputs are tensors.

    The backward operator reads, between the gradient and those inputs that are no tensors, the first `saved`
    inputs, or the result if that is None. It returns the gradients of the first inputs; the others have none.
    """

    class Pair(_Function):
        @staticmethod
        def forward(ctx, *inputs):
            result = forward(*inputs)
            ctx.save_for_backward(*((result,) if saved is None else inputs[:saved]))
            ctx.options = inputs[tensors:]
            return result

        @staticmethod
        def backward(ctx, grad):
            gradients = _gradient(backward, by_pytorch, grad, *ctx.saved_tensors, *ctx.options)
            gradients = (gradients,) if isinstance(gradients, Tensor) else gradients
            return *gradients, *(None for _ in range(tensors + len(ctx.options) - len(gradients)))

    return Pair


# --- Elementwise ---


def _multiply_add_backward(grad, q, k):
    return grad * k, grad * q


class _MultiplyAdd(_Function):
    @staticmethod
    def forward(ctx, q, k, v):
        need_q, need_k, _ = ctx.needs_input_grad
        ctx.save_for_backward(q if need_k else None, k if need_q else None)
        return kernels.multiply_add(q, k, v)

    @staticmethod
    def backward(ctx, grad):
        q, k = ctx.saved_tensors
        if q is not None and k is not None:
            return *_gradient(kernels.multiply_add_backward, _multiply_add_backward, grad, q, k), grad
        return None if k is None else grad * k, None if q is None else grad * q, grad


@_traceable
def multiply_add(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """``q * k + v``. All three have one shape. Saves q if k needs a gradient, and k if q does."""
    (q, k, v), wanted = _prepared("multiply_add", q, k, v)
    return _MultiplyAdd.apply(q, k, v) if wanted else kernels.multiply_add(q, k, v)


def _twice(operator):
    """A backward operator whose one gradient is that of two inputs."""
    return lambda *inputs: (operator(*inputs),) * 2


def _gelu_of(x, tanh):
    return F.gelu(x, approximate="tanh" if tanh else "none")


def _gelu_dropout_of(x, seed, p, tanh):
    with torch.no_grad():
        kept = kernels.gelu_dropout(torch.ones_like(x), seed, p, tanh)  # gelu(1) / (1 - p), or 0
        scales = kept / _gelu_of(torch.ones_like(x), tanh)
    return _gelu_of(x, tanh) * scales


_AddMulExp = _pair(kernels.add_mul_exp, _twice(kernels.add_mul_exp_backward),
                   _twice(lambda grad, result: 2 * grad * result), tensors=2, saved=None)
_AddRelu = _pair(kernels.add_relu, _twice(kernels.add_relu_backward),
                 _twice(lambda grad, result: torch.ops.aten.threshold_backward(grad, result, 0)), tensors=2,
                 saved=None)
_MulTanh = _pair(kernels.mul_tanh, kernels.mul_tanh_backward, _derivative(lambda a, b: torch.tanh(a * b), 2),
                 tensors=2, saved=2)
_Gelu = _pair(kernels.gelu, kernels.gelu_backward, _derivative(_gelu_of, 1), tensors=1, saved=1)
_bias_gelu_by_pytorch = _derivative(lambda x, bias, tanh: _gelu_of(x + bias, tanh), 2)
_BiasGelu = _pair(kernels.bias_gelu, kernels.bias_gelu_backward, _bias_gelu_by_pytorch, tensors=2, saved=2)
_GeluDropout = _pair(kernels.gelu_dropout, kernels.gelu_dropout_backward, _derivative(_gelu_dropout_of, 1),
                     tensors=2, saved=2)


@_traceable
def add_mul_exp(x: Tensor, y: Tensor) -> Tensor:
    """``exp((x + y) * 2)``. Both have one shape. Saves the result."""
    (x, y), wanted = _prepared("add_mul_exp", x, y)
    return _AddMulExp.apply(x, y) if wanted else kernels.add_mul_exp(x, y)


@_traceable
def add_relu(a: Tensor, b: Tensor) -> Tensor:
    """``relu(a + b)``; a NaN stays one. Both have one shape. Saves the result."""
    (a, b), wanted = _prepared("add_relu", a, b)
    return _AddRelu.apply(a, b) if wanted else kernels.add_relu(a, b)


@_traceable
def mul_tanh(a: Tensor, b: Tensor) -> Tensor:
    """``tanh(a * b)``. Both have one shape. Saves a and b."""
    (a, b), wanted = _prepared("mul_tanh", a, b)
    return _MulTanh.apply(a, b) if wanted else kernels.mul_tanh(a, b)


@_traceable
def gelu(x: Tensor, approximate: Approximation = "none") -> Tensor:
    """``torch.nn.functional.gelu(x, approximate=approximate)``. Saves x."""
    tanh = _use_tanh("gelu", approximate)
    (x,), wanted = _prepared("gelu", x)
    return _Gelu.apply(x, tanh) if wanted else kernels.gelu(x, tanh)


@_traceable
def bias_gelu(x: Tensor, bias: Tensor, approximate: Approximation = "none") -> Tensor:
    """``gelu(x + bias)``, with a bias of shape ``x.shape[-1:]``. Saves x and bias.

    The gradient of bias is the sum of that of x over all other dimensions, in float32 for 16-bit types.
    """
    tanh = _use_tanh("bias_gelu", approximate)
    (x, bias), wanted = _prepared("bias_gelu", x, bias)
    return _BiasGelu.apply(x, bias, tanh) if wanted else kernels.bias_gelu(x, bias, tanh)


@_traceable
def gelu_dropout(x: Tensor, p: float = 0.5, training: bool = True,
                 approximate: Approximation = "none") -> Tensor:
    """``dropout(gelu(x), p, training)`` of ``torch.nn.functional``. Saves x and a seed, and no mask.

    The seed is drawn by PyTorch on the device of x, so that results repeat under ``torch.manual_seed``. p is
    rounded to a multiple of 2^-16. Where nothing is dropped, the result is that of `gelu`; else x must not be
    float64.
    """
    tanh = _use_tanh("gelu_dropout", approximate)
    if not 0 <= p <= 1:
        raise ValueError(f"gelu_dropout: p must be from 0 to 1, not {p}")
    if not training or p == 0:
        return gelu(x, approximate)
    (x,), wanted = _prepared("gelu_dropout", x)
    seed = torch.randint(2**62, (), device=getattr(x, "device", None))
    return _GeluDropout.apply(x, seed, p, tanh) if wanted else kernels.gelu_dropout(x, seed, p, tanh)


# --- Norms ---


def _relu_layer_norm_backward(grad, x, weight, eps):
    bias = torch.zeros_like(weight).requires_grad_()  # whose value does not matter
    return _derivative(lambda x, weight, bias: F.layer_norm(F.relu(x), weight.shape, weight, bias, eps),
                       3)(grad, x, weight, bias)


_LayerNormRelu = _pair(
    kernels.layer_norm_relu, kernels.layer_norm_relu_backward,
    _derivative(lambda x, weight, bias, eps: F.relu(F.layer_norm(x, weight.shape, weight, bias, eps)), 3),
    tensors=3, saved=3)
_ReluLayerNorm = _pair(kernels.relu_layer_norm, kernels.relu_layer_norm_backward, _relu_layer_norm_backward,
                       tensors=3, saved=2)


def _layer_norm(op, function, operator, x, normalized_shape, weight, bias, eps):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if isinstance(weight, Tensor) and shape != tuple(weight.shape):
        raise RuntimeError(f"{op}: weight must have the normalized shape {list(shape)}, but is "
                           f"{list(weight.shape)}")
    if isinstance(x, Tensor):
        weight = x.new_ones(shape) if weight is None else weight
        bias = x.new_zeros(shape) if bias is None else bias
    inputs, wanted = _prepared(op, x, weight, bias)
    return function.apply(*inputs, eps) if wanted else operator(*inputs, eps)


@_traceable
def layer_norm_relu(x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
                    bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """``relu(torch.nn.functional.layer_norm(x, normalized_shape, weight, bias, eps))``. Saves all tensors.

    A weight or bias that is None counts as ones or zeros, which are made for the call. The backward pass
    computes mean and deviation of each row again, and sums the gradients of weight and bias in float32.
    """
    return _layer_norm("layer_norm_relu", _LayerNormRelu, kernels.layer_norm_relu, x, normalized_shape,
                       weight, bias, eps)


@_traceable
def relu_layer_norm(x: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None,
                    bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """``torch.nn.functional.layer_norm(relu(x), normalized_shape, weight, bias, eps)``. Saves x and weight.

    None, and the backward pass, as for `layer_norm_relu`.
    """
    return _layer_norm("relu_layer_norm", _ReluLayerNorm, kernels.relu_layer_norm, x, normalized_shape,
                       weight, bias, eps)


def _residual_rms_norm_backward(grad, grad_sum, sum_, weight, eps):
    by_pytorch = _derivative(lambda x, weight: F.rms_norm(x, weight.shape, weight, eps), 2)
    of_sum, of_weight = by_pytorch(grad, sum_, weight)
    return (of_sum if grad_sum is None else grad_sum if of_sum is None else of_sum + grad_sum), of_weight


class _ResidualRmsNorm(_Function):
    @staticmethod
    def forward(ctx, x, residual, weight, eps):
        result, sum_ = kernels.residual_rms_norm(x, residual, weight, eps)
        ctx.save_for_backward(sum_, weight)
        ctx.eps = eps
        ctx.set_materialize_grads(False)
        return result, sum_

    @staticmethod
    def backward(ctx, grad, grad_sum):
        if grad is None:  # only the sum is used
            return grad_sum, grad_sum, None, None
        sum_, weight = ctx.saved_tensors
        dx, dweight = _gradient(kernels.residual_rms_norm_backward, _residual_rms_norm_backward, grad,
                                grad_sum, sum_, weight, ctx.eps)
        return dx, dx, dweight, None


@_traceable
def residual_rms_norm(x: Tensor, residual: Tensor, weight: Tensor,
                      eps: float = 1e-5) -> tuple[Tensor, Tensor]:
    """``rms_norm(sum, weight.shape, weight, eps)`` of ``torch.nn.functional``, and ``sum = x + residual``.

    The sum is rounded to the type of x before it is normalised; it is the residual of the next block. Saves
    sum and weight. x and residual have one shape, weight has that of their last dimensions.
    """
    inputs, wanted = _prepared("residual_rms_norm", x, residual, weight)
    return _ResidualRmsNorm.apply(*inputs, eps) if wanted else kernels.residual_rms_norm(*inputs, eps)


# --- Quantisation ---


@_traceable
def quantize_int8(x: Tensor, scale: float, zero_point: float) -> Tensor:
    """``clamp(round(x / scale + zero_point), -128, 127)`` as int8; a NaN becomes 0. Has no gradient.

    Computed in float32 with a true division and rounded to the nearest, to even in the middle. The scale must
    be positive, and the zero point from -128 to 127. x must not be float64.
    """
    _check_tensors("quantize_int8", x)
    return kernels.quantize_int8(x, scale, zero_point)


@_traceable
def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """`quantize_int8` of each row with its own scale and zero point 0, and the scales. No gradients.

    A row is the last dimension of x, and the scales are float32 of shape ``x.shape[:-1]``. A scale is the
    largest absolute value of the row divided by 127, where a NaN is ignored, or 1 if that is 0. x is near
    ``q * scales.unsqueeze(-1)``. x must not be float64.
    """
    _check_tensors("quantize_rows", x)
    return kernels.quantize_rows(x.detach())


# --- Reductions ---


_SumOfSquares = _pair(kernels.sum_of_squares, kernels.sum_of_squares_backward,
                      _derivative(lambda x, dim: x.square().sum(dim), 1), tensors=1, saved=1)
_MeanAbs = _pair(kernels.mean_abs, kernels.mean_abs_backward,
                 _derivative(lambda x, dim: x.abs().mean(dim), 1), tensors=1, saved=1)


@_traceable
def sum_of_squares(x: Tensor, dim: int) -> Tensor:
    """``x.square().sum(dim)``, summed in float32 for 16-bit types and rounded once. Saves x."""
    (x,), wanted = _prepared("sum_of_squares", x)
    return _SumOfSquares.apply(x, dim) if wanted else kernels.sum_of_squares(x, dim)


@_traceable
def mean_abs(x: Tensor, dim: int) -> Tensor:
    """``x.abs().mean(dim)``, summed in float32 for 16-bit types and rounded once. Saves x.

    The slope at 0 is 0, and the mean of no elements is NaN, as in PyTorch.
    """
    (x,), wanted = _prepared("mean_abs", x)
    return _MeanAbs.apply(x, dim) if wanted else kernels.mean_abs(x, dim)


# --- Linear and GELU ---


class _LinearGelu(_Function):
    @staticmethod
    def forward(ctx, x, weight, bias, tanh):
        ctx.save_for_backward(x, weight, bias)
        ctx.tanh = tanh
        return kernels.linear_gelu(x, weight, bias, tanh)

    @staticmethod
    def backward(ctx, grad):
        x, weight, bias = ctx.saved_tensors
        with torch.autocast(x.device.type, enabled=False):  # the types are those of the forward pass
            dproduct, dbias = _gradient(kernels.bias_gelu_backward, _bias_gelu_by_pytorch, grad,
                                        F.linear(x, weight), bias, ctx.tanh)
            need_x, need_weight, *_ = ctx.needs_input_grad
            dx = dproduct @ weight if need_x else None
            dweight = None
            if need_weight:
                rows = dproduct.flatten(0, -2) if dproduct.dim() > 1 else dproduct.unsqueeze(0)
                dweight = rows.t() @ x.reshape(len(rows), weight.shape[1])
        return dx, dweight, dbias, None


_capability = functools.cache(torch.cuda.get_device_capability)


@torch.compiler.assume_constant_result
def _is_hopper(device_index):
    return _capability(device_index) == (9, 0)


def _is_aligned(matrix):
    """Whether the operator gets the bfloat16 matrix at a multiple of 16 bytes. It copies a matrix that is not
    contiguous."""
    return matrix.storage_offset() % 8 == 0 or not matrix.is_contiguous()


def _may_be_fused(x, weight, bias):
    """Whether these are tensors that fit together, on a GPU and not empty. If not, others say what is wrong.
    """
    if not (isinstance(x, Tensor) and x.is_cuda and isinstance(weight, Tensor) and isinstance(bias, Tensor)):
        return False
    shape, sizes = x.shape, weight.shape
    return (len(shape) > 0 and len(sizes) == 2 and shape[-1] == sizes[1] and x.numel() > 0
            and bias.dim() == 1 and bias.numel() == sizes[0] > 0 and weight.dtype == bias.dtype == x.dtype)


def _suits_hopper(x, weight):
    """Whether "custom" runs a kernel for compute capability 9.0 (suits_hopper in kernels_linear.cu).

    torch.compile cannot trace storage_offset(); there, a matrix that is not aligned goes to the slower
    kernel.
    """
    outputs, inputs = weight.shape
    return (x.dtype == torch.bfloat16 and kernels.BUILT_FOR_HOPPER and inputs % 8 == 0 and outputs % 8 == 0
            and (torch.compiler.is_compiling() or _is_aligned(x) and _is_aligned(weight))
            and _is_hopper(x.get_device()))


def _is_faster(x, weight, tanh):
    """Whether backend "custom" is faster where no gradient is wanted, from times on an H100 (132
    multiprocessors).

    "custom" has tiles of 128 x 128 or larger. With few of them, or long sums, cuBLASLt is faster, which can
    divide the sums; but its epilogue has the tanh form alone, and leaves nothing for a backward pass. Where a
    gradient is wanted, storing the product takes less time than computing it again (docs/09_pytorch.md).
    """
    outputs, inputs = weight.shape
    tiles = x.numel() // inputs * outputs / 128**2
    return tiles >= (1024 if tanh else 128) and inputs <= 4096 and _suits_hopper(x, weight)


def _by_cublas(x, weight, bias, tanh):
    """On a GPU, without a gradient. The tanh form is one kernel with the epilogue of cuBLASLt (use_gelu). The
    exact form is two in any case, as with `bias_gelu`, and PyTorch's own are called in less time.
    """
    if not tanh:
        return F.gelu(F.linear(x, weight, bias))
    if x.dim() == 2:
        return torch._addmm_activation(bias, x, weight.t(), use_gelu=True)
    rows = x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0)
    y = torch._addmm_activation(bias, rows, weight.t(), use_gelu=True)
    return y.view(*x.shape[:-1], len(weight))


@_traceable
def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor | None = None, approximate: Approximation = "none",
                backend: Backend = "auto") -> Tensor:
    """``gelu(linear(x, weight, bias), approximate=approximate)`` of ``torch.nn.functional``. Without a bias,
    a small kernel makes one of zeros.

    backend "cublas": PyTorch's product, rounded to the type of x, then `bias_gelu`. Saves x, weight, bias and
    the product. Types as for `bias_gelu`. Without a gradient, on a GPU and except for float64, PyTorch's
    linear adds the bias before it rounds, and the tanh form is one kernel with an epilogue of cuBLASLt.
    backend "custom": on a GPU one kernel, whose product is never stored, on the CPU as "cublas". Saves x,
    weight and bias; the backward pass computes the product again. For float32 and bfloat16, the latter from
    compute capability 8.0 on. The fast kernels for bfloat16 run on compute capability 9.0, if both sizes of
    weight are multiples of 8, and x and weight start at multiples of 16 bytes.
    backend "auto": "custom" if that is such a fast kernel, no gradient is wanted, and the result is large;
    else "cublas".

    Under autocast, all inputs are cast to its type, as for PyTorch's linear.
    """
    tanh = _use_tanh("linear_gelu", approximate)
    if backend not in ("auto", "cublas", "custom"):
        raise ValueError(f'linear_gelu: backend must be "auto", "cublas" or "custom", not {backend!r}')
    if bias is None and isinstance(weight, Tensor) and weight.dim() == 2:
        bias = weight.new_zeros(len(weight))
    inputs = x, weight, bias
    if isinstance(x, Tensor) and in_autocast(x) and all(isinstance(each, Tensor) for each in inputs):
        if backend != "custom" and torch.is_grad_enabled() and any(each.requires_grad for each in inputs):
            product = F.linear(x, weight)  # autocast keeps its copy of the weight for other calls
            inputs, _ = _prepared("linear_gelu", product, bias.to(product.dtype))
            return _BiasGelu.apply(*inputs, tanh)
        dtype = torch.get_autocast_dtype(x.device.type)
        inputs = tuple(each if each.dtype == torch.float64 else each.to(dtype) for each in inputs)
    inputs, wanted = _prepared("linear_gelu", *inputs)
    fused = not wanted and _may_be_fused(*inputs)
    if backend == "auto" and fused and _is_faster(*inputs[:2], tanh):
        backend = "custom"
    if backend == "custom":
        return _LinearGelu.apply(*inputs, tanh) if wanted else kernels.linear_gelu(*inputs, tanh)
    x, weight, bias = inputs
    if fused and x.dtype != torch.float64:
        return _by_cublas(x, weight, bias, tanh)
    product = F.linear(x, weight)
    return _BiasGelu.apply(product, bias, tanh) if wanted else kernels.bias_gelu(product, bias, tanh)


# --- Attention ---


def _without_gradient(op, instead, *tensors):
    tensors, wanted = _prepared(op, *tensors)
    if wanted:
        raise RuntimeError(f"{op}: its gradient is not implemented: call it under torch.no_grad(), or use "
                           f"{instead}")
    return tensors


def _scale_of(q, scale):
    if scale is None and isinstance(q, Tensor) and q.dim() > 0:
        return q.shape[-1] ** -0.5 if q.shape[-1] else 1.0
    return 1.0 if scale is None else scale


@_traceable
def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: float | None = None) -> Tensor:
    """``softmax(q @ k^T * scale) @ v`` for each head, with sums in float32. No gradient: raises.

    q is ``[..., heads, queries, d]``, k and v are ``[..., key_heads, keys, d]``; heads that share a key head
    stand side by side, as with enable_gqa of ``scaled_dot_product_attention``. float32 and bfloat16, d of at
    most 128. scale is positive, 1 / sqrt(d) by default. The result is contiguous.

    causal: the last query sees all keys, and each query before it one key less. So the last ones belong
    together, where PyTorch's is_causal has the first ones. A query that sees no key has zeros.

    On a GPU the scores never reach memory. bfloat16 needs compute capability 8.0; with 16 queries or fewer,
    the keys are divided among several blocks. On the CPU it is PyTorch's scaled_dot_product_attention.
    """
    q, k, v = _without_gradient("attention", "scaled_dot_product_attention", q, k, v)
    return kernels.attention(q, k, v, _scale_of(q, scale), causal)


@_traceable
def attention_scores(q: Tensor, k: Tensor, scale: float | None = None, causal: bool = False) -> Tensor:
    """``softmax(q @ k^T * scale)``, the weights of `attention`, of shape ``[..., heads, queries, keys]``.

    As there, but for at most 1024 keys, and in bfloat16 for d of at most 64. On a GPU it is one kernel, on
    the CPU it is made of PyTorch's operators, in float32.
    """
    q, k = _without_gradient("attention_scores", "PyTorch's matmul and softmax", q, k)
    return kernels.attention_scores(q, k, _scale_of(q, scale), causal)
