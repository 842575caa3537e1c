"""The operators, each with its reference and the largest errors that it may have.

An error bound is roundings * u * magnitude + stored * r * |reference|, both from the exact formulas:

- u is half an ulp of 1 in the type that is computed in, r the same of the type that is stored;
- `magnitude` is what one rounding of an intermediate can change, relative to u;
- `roundings` counts them. erf, exp and tanh count 8: libmvec and CUDA are at most 4 ulps off, and an ulp is
  at most 2 u. A relative error of an argument a becomes |a f'(a)| of the result;
- `stored` is how many times a value is rounded to the stored type on the way.

References are computed in float64, by PyTorch. For float64 itself they have the same errors, so the bound is
twice as large.
"""

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
import workbook_ops

UNIT = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
SMALLEST = {torch.float64: 5e-324, torch.float32: 2.0**-149, torch.float16: 2.0**-24,
            torch.bfloat16: 2.0**-133}


@dataclass
class Bound:
    magnitude: torch.Tensor
    roundings: float
    stored: int = 1

    def of(self, dtype, reference):
        computing = UNIT[torch.float64 if dtype == torch.float64 else torch.float32]
        # 16-bit types round a second time; the others' rounding is among the roundings already.
        storing = UNIT[dtype] if dtype.itemsize == 2 else computing
        bound = self.roundings * computing * self.magnitude + self.stored * storing * reference.abs()
        return (2 if dtype == torch.float64 else 1.01) * bound + SMALLEST[dtype]


@dataclass
class Case:
    """`forward` has the bound of the result for inputs in float64. `backward` takes the result's gradient
    too and has a bound for the gradient of each input."""

    name: str
    call: Callable
    eager: Callable
    inputs: int
    forward: Callable
    backward: Callable
    reference: Callable = None  # where `eager` itself is not exact enough in float64
    bias: bool = False  # whether one more input has the shape of the last dimension


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
                lambda x, bias: Bound((x + bias).abs(), 10), bias_gradients(tanh), bias=True)


CASES = [
    Case("multiply_add", workbook_ops.multiply_add, lambda q, k, v: q * k + v, 3,
         lambda q, k, v: Bound((q * k).abs() + v.abs(), 2), multiply_add_gradients),
    Case("add_mul_exp", workbook_ops.add_mul_exp, lambda x, y: torch.exp((x + y) * 2), 2,
         exp_bound, exp_gradients),
    Case("add_relu", workbook_ops.add_relu, lambda a, b: torch.relu(a + b), 2,
         lambda a, b: Bound((a + b).abs(), 1), lambda g, a, b: [Bound(g.abs(), 0, 0)] * 2),
    Case("mul_tanh", workbook_ops.mul_tanh, lambda a, b: torch.tanh(a * b), 2, tanh_bound, tanh_gradients,
         reference=lambda a, b: ExactTanh.apply(a * b)),
    gelu_case(False), gelu_case(True), bias_gelu_case(False), bias_gelu_case(True),
]


def inputs_of(case, shape, dtype, device, layout=lambda t: t, seed=1, gradient=True):
    """Random inputs of a case, whose full ones have that layout; no exp of them overflows in float16."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [shape] * case.inputs + [shape[-1:]] * case.bias
    tensors = []
    for i, each in enumerate(shapes):
        tensor = torch.randn(each, generator=generator, dtype=torch.float64).clamp(-2, 2)
        tensor = tensor.to(dtype).to(device)
        tensor = layout(tensor) if i < case.inputs else tensor
        tensors.append(tensor.detach().requires_grad_(gradient))
    return tensors
