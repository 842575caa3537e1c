"""Chapter 01: out = q * k + v in float32."""

import torch
import triton
import triton.language as tl

from contenders.contender import Contender, compared
from contenders.launches import BLOCKS, elementwise
from contenders.ours import OURS
from contenders.pytorch import AS_WRITTEN, compiled, uniform


def make_inputs(shape):
    n = shape[0]
    return {"q": uniform(n, -1, 2), "k": uniform(n, -0.5, 1), "v": uniform(n, -2, 3)}


def formula(q, k, v):
    return q * k + v


@triton.autotune(BLOCKS, key=["n"])
@triton.jit
def multiply_add_kernel(q, k, v, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    product = tl.load(q + i, inside) * tl.load(k + i, inside)
    tl.store(out + i, product + tl.load(v + i, inside), inside)


def by_triton(q, k, v):
    out = torch.empty_like(q)
    n = q.numel()
    multiply_add_kernel[elementwise(n)](q, k, v, out, n)
    return out


def check(inputs, results):
    q, k, v = (tensor.double() for tensor in inputs)
    product = q * k
    terms = product.abs() + v.abs()
    return compared(results[0], product + v, terms, 1e-6 * terms)


def contenders(shape):
    n = shape[0]
    common = {"inputs": ("q", "k", "v"), "check": check, "ours": OURS["01_multiply_add"]["out"]}
    return [Contender("torch", AS_WRITTEN, formula, kernels=(2,), moved=(16 * n, 8 * n), **common),
            *compiled(formula, kernels=(1,), **common),
            Contender("Triton", "written by hand, block size by autotune", by_triton, kernels=(1,),
                      **common)]
