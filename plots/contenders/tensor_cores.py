"""Chapter 06: y = gelu(x w^T + bias) in bfloat16, with both forms of GELU."""

import torch
import triton

from contenders import linear_gelu
from contenders.contender import Contender
from contenders.linear_gelu import FORMS, KEY, by_triton, formula, linear_gelu_tile, right, tile, traffic
from contenders.ours import OURS
from contenders.pytorch import compiled, missing

bfloat16_kernel = triton.autotune([tile(128, 128, 64, 4, 4), tile(128, 128, 64, 8, 4),
                                   tile(128, 256, 64, 8, 3), tile(256, 128, 64, 8, 3),
                                   tile(64, 256, 64, 4, 4)], key=KEY)(linear_gelu_tile)

# Float32 sums of tensor cores, and up to three roundings to bfloat16: of the product and of its sum with the
# bias, which GELU stretches by up to 1.13, and of the result.
TOLERANCE = (2 ** -16, 3.27 * 2 ** -8)


def make_inputs(shape):
    return {name: tensor.bfloat16() for name, tensor in linear_gelu.make_inputs(shape).items()}


def library(x, w, bias):
    return torch._addmm_activation(bias, x, w.t(), use_gelu=True)


def quack(x, w, bias):
    from quack.gemm_interface import gemm_act
    return gemm_act(x, w.t(), bias=bias, activation="gelu_tanh_approx", store_preact=False)[1]


def contenders(shape):
    flops, read, written = traffic(shape, 2)
    entries = []
    for form in FORMS:
        common = {"inputs": ("x", "w", "bias"), "check": right(form, TOLERANCE), "flops": flops,
                  "ours": OURS["06_tensor_cores"][form],
                  "against": "01_tanh" if form == "tanh" else "01_wmma"}
        entries += [Contender(f"torch, {form}", "PyTorch as written: Linear, then GELU", formula(form),
                              kernels=(2,), moved=(read + written, 2 * written), **common),
                    *compiled(formula(form), f", {form}", kernels=(1, 2, 3), **common),
                    Contender(f"Triton, {form}", "written by hand, tiles by autotune",
                              by_triton(bfloat16_kernel, form), kernels=(1,), **common)]
    return entries + [
        Contender("torch, GELU_BIAS", "torch._addmm_activation: cuBLASLt's epilogue, tanh", library,
                  kernels=(1,), **common),
        Contender("QuACK, tanh", "QuACK's gemm_act, which is written in CUTLASS", quack, kernels=(1,),
                  of_others=True, skipped=missing("quack"), **common),
        Contender("CUTLASS", "CUTLASS's own Python packages", None, kernels=(1,), of_others=True,
                  skipped="its Python package nvidia-cutlass, which has a GELU epilogue, was not tried",
                  **common)]
