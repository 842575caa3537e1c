"""Chapter 02: out = exp((x + y) * 2) in float32."""

import torch
import triton
import triton.language as tl

from contenders.contender import Contender, compared
from contenders.launches import BLOCKS, elementwise
from contenders.ours import OURS
from contenders.pytorch import AS_WRITTEN, compiled, uniform


def make_inputs(shape):
    n = shape[0]
    return {"x": uniform(n, -1.5, 1), "y": uniform(n, -1, 1.5)}


def formula(x, y):
    return torch.exp((x + y) * 2)


@triton.autotune(BLOCKS, key=["n"])
@triton.jit
def add_mul_exp_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.exp((tl.load(x + i, inside) + tl.load(y + i, inside)) * 2), inside)


def by_triton(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_mul_exp_kernel[elementwise(n)](x, y, out, n)
    return out


def check(inputs, results):
    x, y = (tensor.double() for tensor in inputs)
    argument = (x + y) * 2
    expected = torch.exp(argument)
    terms = expected * (1 + argument.abs())
    return compared(results[0], expected, terms, 1e-6 * terms)


def contenders(shape):
    n = shape[0]
    common = {"inputs": ("x", "y"), "check": check, "ours": OURS["02_add_mul_exp"]["out"]}
    return [Contender("torch", AS_WRITTEN, formula, kernels=(3,), moved=(16 * n, 12 * n), **common),
            *compiled(formula, kernels=(1,), **common),
            Contender("Triton", "written by hand, block size by autotune", by_triton, kernels=(1,),
                      **common)]
