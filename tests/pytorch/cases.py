"""The operators, each with its reference and the largest errors that it may have.

An error bound is roundings * u * magnitude + stored * r * |reference|, both from the exact formulas:

- u is half an ulp of 1 in the type that is computed in, r the same of the type that is stored;
- `magnitude` is what one rounding of an intermediate can change, relative to u;
- `roundings` counts them. erf, exp and tanh count 8: libmvec and CUDA are at most 4 ulps off, and an ulp is
  at most 2 u. A relative error of an argument a becomes |a f'(a)| of the result;
- `stored` is how many times a value is rounded to the stored type on the way.

References are computed in float64, by PyTorch. For float64 itself they have the same errors, so the bound is
twice as large. A reference may depend on the type: it draws the mask of dropout, or rounds as the operator
does on the way.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np
import torch
import torch.nn.functional as F
import workbook_ops

GPUS = torch.cuda.device_count() if workbook_ops.CUDA_AVAILABLE else 0
DEVICES = ("cpu", *("cuda", "cuda:1")[:GPUS])  # the second GPU is never the current one
UNIT = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
SMALLEST = {torch.float64: 5e-324, torch.float32: 2.0**-149, torch.float16: 2.0**-24,
            torch.bfloat16: 2.0**-133}


TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SHORT_TYPES = TYPES[1:]  # of operators without float64
SEED = 5  # of PyTorch's generator, before each call


@dataclass
class Bound:
    magnitude: torch.Tensor
    roundings: float
    stored: int = 1
    absolute: torch.Tensor = 0  # is added, for results that may be either of two

    def of(self, dtype, reference):
        computing = UNIT[torch.float64 if dtype == torch.float64 else torch.float32]
        # 16-bit types round a second time; the others' rounding is among the roundings already.
        storing = UNIT[dtype] if dtype.itemsize == 2 else computing
        bound = self.roundings * computing * self.magnitude + self.stored * storing * reference.abs()
        bound = bound + self.absolute
        return (2 if dtype == torch.float64 else 1.01) * bound + SMALLEST[dtype]


@dataclass
class Case:
    """`forward` has the bound of the result for inputs in float64, or those of several results. `backward`
    takes the gradients of the results too and has a bound for the gradient of each input."""

    name: str
    call: Callable
    eager: Callable
    inputs: int
    forward: Callable
    backward: Callable
    reference: Callable = None  # of the type: a function that is more exact in float64 than `eager`
    rows: int = 0  # how many more inputs have the shape of the last dimension
    types: tuple = TYPES
    same_alone: bool = True  # a row has the same result by itself
    elementwise: bool = True


class ExactTanh(torch.autograd.Function):
    """tanh, whose gradient PyTorch computes as 1 - tanh^2, with cancellation."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return torch.tanh(v)

    @staticmethod
    def backward(ctx, grad):
        return grad / torch.cosh(ctx.saved_tensors[0]) ** 2


def slope(v, tanh):
    v = v.detach().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(F.gelu(v, approximate="tanh" if tanh else "none").sum(), v)[0]


def slope_bound(grad, v, tanh):
    """1 - tanh(w)^2 cancels, so an error of tanh is multiplied by |v| w'(v) there."""
    if not tanh:
        return Bound(grad.abs(), 12)
    return Bound(grad.abs() * (1 + 0.4 * v.abs() * (1 + 0.134145 * v * v)), 27)


def multiply_add_gradients(g, q, k, v):
    return [Bound((g * k).abs(), 1), Bound((g * q).abs(), 1), Bound(g.abs(), 0, 0)]


def exp_bound(x, y, extra=0, stored=1):
    argument = (x + y) * 2
    return Bound(argument.exp() * (1 + argument.abs()), 9 + extra, stored)


def exp_gradients(g, x, y):
    bound = exp_bound(x, y, 2, 2)  # made from the result, which has been stored
    bound.magnitude = bound.magnitude * 2 * g.abs()
    return [bound, bound]


def tanh_bound(a, b):
    t = torch.tanh(a * b)
    return Bound(t.abs() + (a * b).abs() * (1 - t * t), 9)


def tanh_gradients(g, a, b):
    s = 1 / torch.cosh(a * b) ** 2
    relative = (g * s).abs() * (1 + 2 * (a * b).abs())
    return [Bound(relative * b.abs(), 15), Bound(relative * a.abs(), 15)]


def bias_gradients(tanh):
    def bounds(g, x, bias):
        of_x = slope_bound(g, x + bias, tanh)
        rows = max(1, x.numel() // max(1, x.shape[-1]))
        terms = (g * slope(x + bias, tanh)).abs()
        # A sum in any order is off by at most `rows` roundings of its terms' absolute values.
        magnitude = (of_x.magnitude + rows / of_x.roundings * terms).sum_to_size(bias.shape)
        of_bias = Bound(magnitude, of_x.roundings)
        return [of_x, of_bias]
    return bounds


def gelu_case(tanh):
    approximate = "tanh" if tanh else "none"
    return Case(f"gelu, {approximate}", lambda x: workbook_ops.gelu(x, approximate),
                lambda x: F.gelu(x, approximate=approximate), 1,
                lambda x: Bound(x.abs(), 8), lambda g, x: [slope_bound(g, x, tanh)])


def bias_gelu_case(tanh):
    approximate = "tanh" if tanh else "none"
    return Case(f"bias_gelu, {approximate}", lambda x, bias: workbook_ops.bias_gelu(x, bias, approximate),
                lambda x, bias: F.gelu(x + bias, approximate=approximate), 1,
                lambda x, bias: Bound((x + bias).abs(), 10), bias_gradients(tanh), rows=1)


# --- Dropout ---


def philox(counter, key):
    """Philox 4x32-10 after Salmon and others (2011), of an array of counters, four words each."""
    x, key = counter.astype(np.uint64), [np.uint64(word) for word in key]
    low, multipliers, steps = np.uint64(2**32 - 1), (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
    for _ in range(10):
        first, second = np.uint64(multipliers[0]) * x[:, 0], np.uint64(multipliers[1]) * x[:, 2]
        x = np.stack(((second >> np.uint64(32)) ^ x[:, 1] ^ key[0], second & low,
                      (first >> np.uint64(32)) ^ x[:, 3] ^ key[1], first & low), 1)
        key = [(word + np.uint64(step)) & low for word, step in zip(key, steps)]
    return x


def kept(n, seed, p, dtype):
    """Which of n elements that are neighbours in memory dropout keeps.

    A call for the counter (0, 0, c, 0) has eight numbers of 16 bits. In 16-bit types they belong to the
    elements from 8 c on. In float32, of 256 elements that have 32 calls, the first half of a call's numbers
    belongs to four neighbours in the first half of the elements, the second half to four in the second.
    """
    calls = np.zeros(((n + 255) // 256 * 32, 4))
    calls[:, 2] = np.arange(len(calls))
    words = philox(calls, (seed % 2**32, seed // 2**32))
    numbers = np.stack((words & np.uint64(0xffff), words >> np.uint64(16)), 2).reshape(-1, 8)
    if dtype == torch.float32:
        numbers = numbers.reshape(-1, 32, 2, 4).transpose(0, 2, 1, 3)
    return torch.from_numpy((numbers.reshape(-1)[:n] >= np.uint64(round(p * 65536))))


def drawn_seed(device):
    torch.manual_seed(SEED)
    return torch.randint(2**62, (), device=device).item()


def factors(x, p, dtype):
    """What dropout multiplies each element by, in the order of memory."""
    result = torch.empty_like(x)
    order = sorted(range(x.dim()), key=result.stride, reverse=True)
    flat = result.permute(order).view(-1)
    stays = 1 - round(p * 65536) / 65536
    flat.copy_(kept(x.numel(), drawn_seed(x.device), p, dtype) / stays)
    return result


def dropout_case(p, tanh):
    approximate = "tanh" if tanh else "none"

    def scaled(bound):
        bound.magnitude = bound.magnitude / (1 - p)
        bound.roundings += 4  # of the factor and the product, and of the faster GELU in bfloat16
        return bound

    return Case(f"gelu_dropout, {approximate}", lambda x: workbook_ops.gelu_dropout(x, p, True, approximate),
                lambda x: F.dropout(F.gelu(x, approximate=approximate), p), 1,
                lambda x: scaled(Bound(x.abs(), 8)), lambda g, x: [scaled(slope_bound(g, x, tanh))],
                lambda dtype: lambda x: F.gelu(x, approximate=approximate) * factors(x.detach(), p, dtype),
                types=SHORT_TYPES, same_alone=False, elementwise=False)


# --- Norms ---

EPS = 0.25  # so large that it shows in the results where it is added


def row_roundings(columns):
    """A thread, or a lane of a vector, adds up a part of its row one by one."""
    return columns / 32 + 40


@dataclass
class Normalised:
    """The rows v as z = (v - mean) / sqrt(variance + EPS), and what one rounding changes in z, relative to u:
    the elements and the mean are rounded, and `root` is for the relative error of the root."""

    v: torch.Tensor
    subtract: bool = True

    def __post_init__(self):
        v = self.v
        mean = v.mean(-1, keepdim=True) if self.subtract else 0 * v[..., :1]
        self.inverse = ((v - mean).square().mean(-1, keepdim=True) + EPS).rsqrt()
        self.z = (v - mean) * self.inverse
        terms = (v.abs() + v.abs().mean(-1, keepdim=True) * self.subtract) * self.inverse
        self.root = 1 + (terms * self.z.abs()).mean(-1, keepdim=True)
        self.magnitude = terms + self.z.abs() * self.root

    def through(self, g):
        """Bounds the gradient of v from the terms |g| of that of z: without cancellation."""
        g = g.abs()
        of_mean = g.mean(-1, keepdim=True) * self.subtract
        return self.inverse * (g + of_mean + self.z.abs() * (g * self.z.abs()).mean(-1, keepdim=True))

    def gradient(self, g):
        """What one rounding can change in the gradient of v."""
        mean_gz, mean_error = ((g.abs() * t).mean(-1, keepdim=True) for t in (self.z.abs(), self.magnitude))
        return (self.root * self.through(g)
                + self.inverse * (self.magnitude * mean_gz + self.z.abs() * mean_error))


def column_bound(terms, errors, roundings, like, absolute=0):
    """Bounds the sums of columns, whose terms have these errors, in roundings."""
    rows = terms.numel() // max(1, like.numel())
    magnitude = (errors + rows / roundings * terms.abs()).sum_to_size(like.shape)
    doubts = absolute.sum_to_size(like.shape) if isinstance(absolute, torch.Tensor) else 0
    return Bound(magnitude, roundings, absolute=doubts)


def norm_case(name, operator, relu_last):
    def eager(x, weight, bias):
        y = F.layer_norm(x if relu_last else torch.relu(x), weight.shape, weight, bias, EPS)
        return torch.relu(y) if relu_last else y

    def normalised(x):
        return Normalised(x if relu_last else torch.relu(x))

    def forward(x, weight, bias):
        return Bound(normalised(x).magnitude * weight.abs() + bias.abs(), row_roundings(x.shape[-1]))

    def backward(g, x, weight, bias):
        n, bound, doubts = normalised(x), forward(x, weight, bias), 0 * x
        if relu_last:  # a result so near 0 that ReLU may cut it off or not
            result = n.z * weight + bias
            doubtful = result.abs() <= 1.01 * bound.roundings * 2**-24 * bound.magnitude
            doubts = torch.where(doubtful, g.abs(), 0)
            g = torch.where(result > 0, g, 0)
        return [Bound(n.gradient(g * weight), bound.roundings, absolute=n.through(doubts * weight)),
                column_bound(g * n.z, g.abs() * n.magnitude, bound.roundings, weight, doubts * n.z.abs()),
                column_bound(g, 0 * g, 1, bias, doubts)]

    return Case(name, lambda x, weight, bias: operator(x, weight.shape, weight, bias, EPS), eager, 1, forward,
                backward, rows=2, types=SHORT_TYPES, elementwise=False)


def rms_norm(h, weight):
    """PyTorch's result is contiguous too, but for channels last on the CPU."""
    return F.rms_norm(h, weight.shape, weight, EPS).contiguous(), h


def rounded(h, dtype):
    """With the gradient of h."""
    return h + (h.detach().float().to(dtype).double() - h.detach())


def rms_bound(x, r, weight):
    n = Normalised(x + r, subtract=False)
    return (Bound(n.magnitude * weight.abs(), row_roundings(x.shape[-1])), Bound(x.abs() + r.abs(), 1))


def rms_gradients(g, g_sum, x, r, weight):
    n, roundings = Normalised(x + r, subtract=False), row_roundings(x.shape[-1])
    of_x = Bound(n.gradient(g * weight) + g_sum.abs() / roundings, roundings)
    return [of_x, of_x, column_bound(g * n.z, g.abs() * n.magnitude, roundings, weight)]


# --- Reductions ---


def sum_roundings(x, dim):
    """A thread, or a lane of a vector, adds up a part of its row one by one, and no more than a column."""
    size = x.shape[dim] if x.dim() else 1
    return (size / 32 + 40) if dim == -1 else size + 20


def sum_of_squares_case(dim):
    return Case(f"sum_of_squares, dim {dim}", lambda x: workbook_ops.sum_of_squares(x, dim),
                lambda x: x.square().sum(dim), 1,
                lambda x: Bound(x.square().sum(dim), sum_roundings(x, dim)),
                lambda g, x: [Bound((2 * repeated(g, x, dim) * x).abs(), 2)], same_alone=False,
                elementwise=False)


def mean_abs_case(dim):
    return Case(f"mean_abs, dim {dim}", lambda x: workbook_ops.mean_abs(x, dim),
                lambda x: x.abs().mean(dim), 1,
                lambda x: Bound(x.abs().mean(dim), sum_roundings(x, dim)),
                lambda g, x: [Bound(repeated(g, x, dim).abs() / max(1, x.shape[dim] if x.dim() else 1), 2)],
                same_alone=False, elementwise=False)


def repeated(g, x, dim):
    """The gradient of a line for each of its elements."""
    return g.unsqueeze(dim).expand_as(x) if x.dim() else g


CASES = [
    Case("multiply_add", workbook_ops.multiply_add, lambda q, k, v: q * k + v, 3,
         lambda q, k, v: Bound((q * k).abs() + v.abs(), 2), multiply_add_gradients),
    Case("add_mul_exp", workbook_ops.add_mul_exp, lambda x, y: torch.exp((x + y) * 2), 2,
         exp_bound, exp_gradients),
    Case("add_relu", workbook_ops.add_relu, lambda a, b: torch.relu(a + b), 2,
         lambda a, b: Bound((a + b).abs(), 1), lambda g, a, b: [Bound(g.abs(), 0, 0)] * 2),
    Case("mul_tanh", workbook_ops.mul_tanh, lambda a, b: torch.tanh(a * b), 2, tanh_bound, tanh_gradients,
         reference=lambda dtype: lambda a, b: ExactTanh.apply(a * b)),
    gelu_case(False), gelu_case(True), bias_gelu_case(False), bias_gelu_case(True),
    dropout_case(0.3, False), dropout_case(0.75, True),
    norm_case("layer_norm_relu", workbook_ops.layer_norm_relu, relu_last=True),
    norm_case("relu_layer_norm", workbook_ops.relu_layer_norm, relu_last=False),
    Case("residual_rms_norm", lambda x, r, weight: workbook_ops.residual_rms_norm(x, r, weight, EPS),
         lambda x, r, weight: rms_norm(x + r, weight), 2, rms_bound, rms_gradients,
         lambda dtype: lambda x, r, weight: rms_norm(rounded(x + r, dtype), weight), 1, SHORT_TYPES,
         elementwise=False),
    sum_of_squares_case(-1), sum_of_squares_case(0), mean_abs_case(-1), mean_abs_case(0),
]


def inputs_of(case, shape, dtype, device, layout=lambda t: t, seed=1, gradient=True):
    """Random inputs of a case, whose full ones have that layout; no exp of them overflows in float16."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [shape] * case.inputs + [shape[-1:]] * case.rows
    tensors = []
    for i, each in enumerate(shapes):
        tensor = torch.randn(each, generator=generator, dtype=torch.float64).clamp(-2, 2)
        tensor = tensor.to(dtype).to(device)
        tensor = layout(tensor) if i < case.inputs else tensor
        tensors.append(tensor.detach().requires_grad_(gradient))
    return tensors


def call(function, inputs):
    """The results as a tuple, with the same random numbers in each call."""
    torch.manual_seed(SEED)
    results = function(*inputs)
    return results if isinstance(results, tuple) else (results,)
