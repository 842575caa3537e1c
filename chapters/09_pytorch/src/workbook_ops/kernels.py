"""Direct access: the operators without autograd, and the file of their C layer.

Each name here is an operator of PyTorch (``torch.ops.workbook_ops``). It checks its inputs, allocates its
result and starts its kernel, or a few where columns or long lines are summed. It knows nothing of gradients;
the functions of the package do. The backward passes are operators too.

    multiply_add(q, k, v)           multiply_add_backward(grad, q, k) -> dq, dk
    add_mul_exp(x, y)               add_mul_exp_backward(grad, result) -> dx, which is dy as well
    add_relu(a, b)                  add_relu_backward(grad, result) -> da, which is db as well
    mul_tanh(a, b)                  mul_tanh_backward(grad, a, b) -> da, db
    gelu(x, tanh=False)             gelu_backward(grad, x, tanh=False) -> dx
    bias_gelu(x, bias, tanh=False)  bias_gelu_backward(grad, x, bias, tanh=False) -> dx, dbias

    gelu_dropout(x, seed, p, tanh=False)
    gelu_dropout_backward(grad, x, seed, p, tanh=False) -> dx
    layer_norm_relu(x, weight, bias, eps=1e-05)
    layer_norm_relu_backward(grad, x, weight, bias, eps=1e-05) -> dx, dweight, dbias
    relu_layer_norm(x, weight, bias, eps=1e-05)
    relu_layer_norm_backward(grad, x, weight, eps=1e-05) -> dx, dweight, dbias
    residual_rms_norm(x, residual, weight, eps=1e-05) -> y, sum
    residual_rms_norm_backward(grad, grad_sum, sum, weight, eps=1e-05) -> dx, dweight

    quantize_int8(x, scale, zero_point)
    quantize_rows(x) -> q, scales
    linear_gelu(x, weight, bias, tanh=False)
    attention(q, k, v, scale, causal=False)
    attention_scores(q, k, scale, causal=False)
    sum_of_squares(x, dim)          sum_of_squares_backward(grad, x, dim) -> dx
    mean_abs(x, dim)                mean_abs_backward(grad, x, dim) -> dx

The dx of residual_rms_norm_backward is dresidual as well, and grad_sum may be None. The seed of dropout is a
tensor of one int64 on the device of x. The same seed drops the same elements, in the order of memory, on the
CPU and on a GPU.

C_LAYER is the path of a library whose functions take plain pointers (interface.hpp), for ctypes.
"""

import ctypes
import pathlib
import struct

import torch
import torch.nn.functional as F


def _require_whole(library):
    """Refuses a file that was only written in part: the system would end Python without a word."""
    with open(library, "rb") as file:
        header = file.read(64).ljust(64)
        length = file.seek(0, 2)
    # An ELF file ends with the table of its sections, of which the header has place, size and number.
    table, size, count = struct.unpack_from("<40xQ10xHH", header)
    if not header.startswith(b"\x7fELF") or length < table + size * count:
        raise ImportError(f"{library} is damaged: it is no whole library; install workbook_ops again")


C_LAYER = str(pathlib.Path(__file__).parent / "_operators.so")
_require_whole(C_LAYER)
torch.ops.load_library(C_LAYER)
_built_for = ctypes.CDLL(C_LAYER).workbook_built_for
_built_for.restype = ctypes.c_char_p
BUILT_FOR = ("cpu", *_built_for().decode().split())
BUILT_WITH_CUDA = len(BUILT_FOR) > 1
BUILT_FOR_HOPPER = "sm_90a" in BUILT_FOR

_ops = torch.ops.workbook_ops
multiply_add = _ops.multiply_add.default
multiply_add_backward = _ops.multiply_add_backward.default
add_mul_exp = _ops.add_mul_exp.default
add_mul_exp_backward = _ops.add_mul_exp_backward.default
add_relu = _ops.add_relu.default
add_relu_backward = _ops.add_relu_backward.default
mul_tanh = _ops.mul_tanh.default
mul_tanh_backward = _ops.mul_tanh_backward.default
gelu = _ops.gelu.default
gelu_backward = _ops.gelu_backward.default
bias_gelu = _ops.bias_gelu.default
bias_gelu_backward = _ops.bias_gelu_backward.default
gelu_dropout = _ops.gelu_dropout.default
gelu_dropout_backward = _ops.gelu_dropout_backward.default
layer_norm_relu = _ops.layer_norm_relu.default
layer_norm_relu_backward = _ops.layer_norm_relu_backward.default
relu_layer_norm = _ops.relu_layer_norm.default
relu_layer_norm_backward = _ops.relu_layer_norm_backward.default
residual_rms_norm = _ops.residual_rms_norm.default
residual_rms_norm_backward = _ops.residual_rms_norm_backward.default
quantize_int8 = _ops.quantize_int8.default
quantize_rows = _ops.quantize_rows.default
linear_gelu = _ops.linear_gelu.default
attention = _ops.attention.default
attention_scores = _ops.attention_scores.default
sum_of_squares = _ops.sum_of_squares.default
sum_of_squares_backward = _ops.sum_of_squares_backward.default
mean_abs = _ops.mean_abs.default
mean_abs_backward = _ops.mean_abs_backward.default

# --- Fake implementations: what torch.compile learns of a result without computing it ---

_TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _check_pair(op, first, second, a, b):
    torch._check(a.dtype == b.dtype, lambda: f"{op}: {first} and {second} must have the same type, but are "
                                             f"{a.dtype} and {b.dtype}: convert one of them with .to()")
    torch._check(a.device == b.device, lambda: f"{op}: {first} and {second} must be on the same device, but "
                                               f"are on {a.device} and {b.device}")


def _check_size(op, name, elements):
    # torch.compile may not know the size; then the operator finds out.
    torch._check(not isinstance(elements, int) or elements < 2**31,
                 lambda: f"{op}: {name} has {elements} elements; {2**31 - 1} is the most: split it")


def _check_type(op, name, a, float64=True):
    types, first = (_TYPES, "float64, ") if float64 else (_TYPES[1:], "")
    torch._check(a.dtype in types,
                 lambda: f"{op}: {name} must be {first}float32, float16 or bfloat16, not {a.dtype}")
    _check_size(op, name, a.numel())


def _check_alike(op, float64=True, **inputs):
    """The checks of the C++ side, with the same words."""
    (first, a), *others = inputs.items()
    _check_type(op, first, a, float64)
    for name, b in others:
        _check_pair(op, first, name, a, b)
        torch._check(a.shape == b.shape,
                     lambda: f"{op}: {first} and {name} must have the same shape, but are {list(a.shape)} "
                             f"and {list(b.shape)}; nothing is broadcast: expand one of them first")


def _check_bias(op, x, bias):
    _check_type(op, "x", x)
    _check_pair(op, "x", "bias", x, bias)
    torch._check(x.dim() > 0, lambda: f"{op}: x must have at least one dimension, which bias is added along")
    torch._check(bias.dim() == 1 and bias.shape[0] == x.shape[-1],
                 lambda: f"{op}: bias must have the shape [{x.shape[-1]}], that of the last dimension of x, "
                         f"but is {list(bias.shape)}")


@torch.library.register_fake("workbook_ops::multiply_add")
def _(q, k, v):
    _check_alike("multiply_add", q=q, k=k, v=v)
    return torch.empty_like(q)


@torch.library.register_fake("workbook_ops::multiply_add_backward")
def _(grad, q, k):
    _check_alike("multiply_add_backward", grad=grad, q=q, k=k)
    return torch.empty_like(q), torch.empty_like(q)


@torch.library.register_fake("workbook_ops::add_mul_exp")
def _(x, y):
    _check_alike("add_mul_exp", x=x, y=y)
    return torch.empty_like(x)


@torch.library.register_fake("workbook_ops::add_mul_exp_backward")
def _(grad, result):
    _check_alike("add_mul_exp_backward", grad=grad, result=result)
    return torch.empty_like(result)


@torch.library.register_fake("workbook_ops::add_relu")
def _(a, b):
    _check_alike("add_relu", a=a, b=b)
    return torch.empty_like(a)


@torch.library.register_fake("workbook_ops::add_relu_backward")
def _(grad, result):
    _check_alike("add_relu_backward", grad=grad, result=result)
    return torch.empty_like(result)


@torch.library.register_fake("workbook_ops::mul_tanh")
def _(a, b):
    _check_alike("mul_tanh", a=a, b=b)
    return torch.empty_like(a)


@torch.library.register_fake("workbook_ops::mul_tanh_backward")
def _(grad, a, b):
    _check_alike("mul_tanh_backward", grad=grad, a=a, b=b)
    return torch.empty_like(a), torch.empty_like(a)


@torch.library.register_fake("workbook_ops::gelu")
def _(x, tanh=False):
    _check_alike("gelu", x=x)
    return torch.empty_like(x)


@torch.library.register_fake("workbook_ops::gelu_backward")
def _(grad, x, tanh=False):
    _check_alike("gelu_backward", grad=grad, x=x)
    return torch.empty_like(x)


@torch.library.register_fake("workbook_ops::bias_gelu")
def _(x, bias, tanh=False):
    _check_bias("bias_gelu", x, bias)
    return torch.empty_like(x)


@torch.library.register_fake("workbook_ops::bias_gelu_backward")
def _(grad, x, bias, tanh=False):
    _check_bias("bias_gelu_backward", x, bias)
    _check_alike("bias_gelu_backward", x=x, grad=grad)
    return torch.empty_like(x), torch.empty_like(bias, memory_format=torch.contiguous_format)


def _check_dropout(op, x, seed, p, **grad):
    _check_alike(op, float64=False, x=x, **grad)
    torch._check(seed.dtype == torch.int64 and seed.numel() == 1,
                 lambda: f"{op}: seed must be one int64, but is {seed.dtype} {list(seed.shape)}")
    torch._check(seed.device == x.device, lambda: f"{op}: x and seed must be on the same device, but are on "
                                                  f"{x.device} and {seed.device}")
    torch._check(0 <= p <= 1, lambda: f"{op}: p must be from 0 to 1, not {p}")


@torch.library.register_fake("workbook_ops::gelu_dropout")
def _(x, seed, p, tanh=False):
    _check_dropout("gelu_dropout", x, seed, p)
    return torch.empty_like(x)


@torch.library.register_fake("workbook_ops::gelu_dropout_backward")
def _(grad, x, seed, p, tanh=False):
    _check_dropout("gelu_dropout_backward", x, seed, p, grad=grad)
    return torch.empty_like(x)


def _check_norm(op, x, weight, bias=None, name="x"):
    _check_type(op, name, x, float64=False)
    _check_pair(op, name, "weight", x, weight)
    torch._check(0 < weight.dim() <= x.dim() and weight.shape == x.shape[x.dim() - weight.dim():],
                 lambda: f"{op}: weight must have the shape of the last dimensions of {name}, at least one, "
                         f"but is {list(weight.shape)} for {list(x.shape)}")
    if bias is not None:
        _check_alike(op, float64=False, weight=weight, bias=bias)


@torch.library.register_fake("workbook_ops::layer_norm_relu")
def _(x, weight, bias, eps=1e-5):
    _check_norm("layer_norm_relu", x, weight, bias)
    return x.new_empty(x.shape)


@torch.library.register_fake("workbook_ops::layer_norm_relu_backward")
def _(grad, x, weight, bias, eps=1e-5):
    _check_norm("layer_norm_relu_backward", x, weight, bias)
    _check_alike("layer_norm_relu_backward", float64=False, x=x, grad=grad)
    return x.new_empty(x.shape), weight.new_empty(weight.shape), weight.new_empty(weight.shape)


@torch.library.register_fake("workbook_ops::relu_layer_norm")
def _(x, weight, bias, eps=1e-5):
    _check_norm("relu_layer_norm", x, weight, bias)
    return x.new_empty(x.shape)


@torch.library.register_fake("workbook_ops::relu_layer_norm_backward")
def _(grad, x, weight, eps=1e-5):
    _check_norm("relu_layer_norm_backward", x, weight)
    _check_alike("relu_layer_norm_backward", float64=False, x=x, grad=grad)
    return x.new_empty(x.shape), weight.new_empty(weight.shape), weight.new_empty(weight.shape)


@torch.library.register_fake("workbook_ops::residual_rms_norm")
def _(x, residual, weight, eps=1e-5):
    _check_norm("residual_rms_norm", x, weight)
    _check_alike("residual_rms_norm", float64=False, x=x, residual=residual)
    return x.new_empty(x.shape), torch.empty_like(x)


@torch.library.register_fake("workbook_ops::residual_rms_norm_backward")
def _(grad, grad_sum, sum, weight, eps=1e-5):
    op = "residual_rms_norm_backward"
    _check_norm(op, sum, weight, name="sum")
    _check_alike(op, float64=False, sum=sum, grad=grad)
    if grad_sum is not None:
        _check_alike(op, float64=False, sum=sum, grad_sum=grad_sum)
    return sum.new_empty(sum.shape), weight.new_empty(weight.shape)


@torch.library.register_fake("workbook_ops::quantize_int8")
def _(x, scale, zero_point):
    _check_type("quantize_int8", "x", x, float64=False)
    torch._check(1.4e-45 <= scale <= 3.4e38,
                 lambda: "quantize_int8: scale must be a positive number of float32, from 1.4e-45 to 3.4e38, "
                         f"not {scale}")
    torch._check(-128 <= zero_point <= 127,
                 lambda: f"quantize_int8: zero_point must be from -128 to 127, not {zero_point}")
    return torch.empty_like(x, dtype=torch.int8)


@torch.library.register_fake("workbook_ops::quantize_rows")
def _(x):
    op = "quantize_rows"
    _check_type(op, "x", x, float64=False)
    torch._check(x.dim() > 0, lambda: f"{op}: x must have at least one dimension, the last of which is a row")
    return torch.empty_like(x, dtype=torch.int8), x.new_empty(x.shape[:-1], dtype=torch.float32)


def _reduced_shape(op, x, dim):
    _check_type(op, "x", x)
    most = max(x.dim(), 1) - 1
    torch._check(-most - 1 <= dim <= most, lambda: f"{op}: dim must be from {-most - 1} to {most}, not {dim}")
    return [size for i, size in enumerate(x.shape) if i != dim % (most + 1)]


def _check_reduced(op, grad, x, dim):
    shape = _reduced_shape(op, x, dim)
    _check_pair(op, "x", "grad", x, grad)
    torch._check(list(grad.shape) == shape,
                 lambda: f"{op}: grad must have the shape of the result, that of x without dimension {dim}, "
                         f"but is {list(grad.shape)} for {list(x.shape)}")


def _register_reduction(op):
    @torch.library.register_fake(f"workbook_ops::{op}")
    def _(x, dim):
        return x.new_empty(_reduced_shape(op, x, dim))

    @torch.library.register_fake(f"workbook_ops::{op}_backward")
    def _(grad, x, dim):
        _check_reduced(f"{op}_backward", grad, x, dim)
        return torch.empty_like(x)


for _op in ("sum_of_squares", "mean_abs"):
    _register_reduction(_op)


@torch.library.register_fake("workbook_ops::linear_gelu")
def _(x, weight, bias, tanh=False):
    op = "linear_gelu"
    _check_type(op, "x", x, float64=False)
    torch._check(x.dtype != torch.float16, lambda: f"{op}: x must be float32 or bfloat16, not {x.dtype}")
    _check_pair(op, "x", "weight", x, weight)
    _check_pair(op, "x", "bias", x, bias)
    torch._check(x.dim() > 0,
                 lambda: f"{op}: x must have at least one dimension, the last of which is multiplied")
    torch._check(weight.dim() == 2 and weight.shape[1] == x.shape[-1],
                 lambda: f"{op}: weight must have two dimensions, the second one {x.shape[-1]}, that of the "
                         f"last dimension of x, but is {list(weight.shape)}")
    torch._check(bias.dim() == 1 and bias.shape[0] == weight.shape[0],
                 lambda: f"{op}: bias must have the shape [{weight.shape[0]}], that of the first dimension "
                         f"of weight, but is {list(bias.shape)}")
    result = x.new_empty((*x.shape[:-1], weight.shape[0]))
    _check_size(op, "the result", result.numel())
    return result


# --- Attention ---

MOST_D, MOST_SCORE_D, MOST_SCORE_KEYS = 128, 64, 1024  # of the kernels; MOST_SCORE_D is for bfloat16


def _check_attention(op, scale, q, k, v=None):
    _check_type(op, "q", q, float64=False)
    torch._check(q.dtype != torch.float16, lambda: f"{op}: q must be float32 or bfloat16, not {q.dtype}")
    _check_pair(op, "q", "k", q, k)
    if v is not None:
        _check_alike(op, k=k, v=v)
    fits = q.dim() >= 3 and k.dim() == q.dim() and k.shape[:-3] == q.shape[:-3] and k.shape[-1] == q.shape[-1]
    torch._check(fits, lambda: f"{op}: q must have the dimensions [..., heads, queries, d] and k "
                               f"[..., heads, keys, d], but are {list(q.shape)} and {list(k.shape)}")
    heads, key_heads = q.shape[-3], k.shape[-3]
    torch._check(heads % key_heads == 0 if key_heads else heads == 0,
                 lambda: f"{op}: the heads of q must be a multiple of those of k, but are {heads} and "
                         f"{key_heads}")
    most_d = MOST_D if v is not None or q.dtype == torch.float32 else MOST_SCORE_D
    torch._check(q.shape[-1] <= most_d, lambda: f"{op}: d is {q.shape[-1]}; {most_d} is the most")
    torch._check(v is not None or k.shape[-2] <= MOST_SCORE_KEYS,
                 lambda: f"{op}: there are {k.shape[-2]} keys; {MOST_SCORE_KEYS} is the most")
    torch._check(scale > 0, lambda: f"{op}: scale must be positive, not {scale:g}")


@torch.library.register_fake("workbook_ops::attention")
def _(q, k, v, scale, causal=False):
    _check_attention("attention", scale, q, k, v)
    return q.new_empty(q.shape)


@torch.library.register_fake("workbook_ops::attention_scores")
def _(q, k, scale, causal=False):
    _check_attention("attention_scores", scale, q, k)
    return q.new_empty((*q.shape[:-1], k.shape[-2]))


def _visible(queries, keys):
    """Which keys a query sees with a causal mask: the last query all."""
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


@torch.library.impl("workbook_ops::attention", "CPU")
def _(q, k, v, scale, causal=False):
    _check_attention("attention", scale, q, k, v)
    queries, keys = q.shape[-2], k.shape[-2]
    result = q.new_zeros(q.shape)
    if result.numel() == 0 or keys == 0:
        return result
    first = max(0, queries - keys) if causal else 0  # queries before it see no key
    mask = _visible(queries - first, keys) if causal else None
    heads = (each.reshape(1, -1, *each.shape[-2:]) for each in (q[..., first:, :], k, v))
    o = F.scaled_dot_product_attention(*heads, attn_mask=mask, scale=scale, enable_gqa=True)
    result[..., first:, :] = o.view(*q.shape[:-2], queries - first, q.shape[-1])
    return result


@torch.library.impl("workbook_ops::attention_scores", "CPU")
def _(q, k, scale, causal=False):
    _check_attention("attention_scores", scale, q, k)
    k = k.repeat_interleave(q.shape[-3] // max(1, k.shape[-3]), -3)
    scores = torch.matmul(q.float(), k.float().transpose(-2, -1)).mul_(scale)
    queries, keys = scores.shape[-2:]
    if not causal:
        return scores.softmax(-1).to(q.dtype)
    weights = scores.masked_fill_(~_visible(queries, keys), -torch.inf).softmax(-1)
    weights[..., :max(0, queries - keys), :] = 0.0  # these queries see no key
    return weights.to(q.dtype)
