"""The fused kernels of the Kernel Fusion Workbook as PyTorch operators.

    import torch, workbook_ops
    y = workbook_ops.bias_gelu(x, bias)

Inputs are tensors of float64, float32, float16 or bfloat16, all of one type and on one device, the CPU or a
GPU; dropout, norms and quantisation are not for float64, and attention is for float32 and bfloat16. 16-bit
elements are computed in float32 and rounded once. Shapes must be equal: nothing is broadcast, since a kernel
for that reads other bytes; expand a tensor first if you want it (it is copied). A tensor may have any strides
and no elements at all, but at most 2^31 - 1; the result has the strides that empty_like() gives for the first
input, and is contiguous if it is normalised, reduced, or of attention.

Gradients work as usual; a gradient of attention raises. A wrong type, shape or device raises a RuntimeError
that says what is wrong and what is accepted, a wrong option a ValueError. On a GPU, kernels run on the
current stream and can be captured in a CUDA graph. torch.compile(fullgraph=True) takes all operators as they
are. Under autocast they compute in the type of their inputs; inputs of different types are cast to the widest
one first. Only linear_gelu computes in autocast's type, as PyTorch's linear does.

LinearGELU, LayerNormReLU, ReLULayerNorm, ResidualRMSNorm and GELUDropout are modules of these operators.

`rewrite` puts operators into a model that exists (`restore` takes them out), `backend` puts `linear_gelu`
into what torch.compile sees, and `fuse` into a graph of torch.fx.

CUDA_AVAILABLE: whether there is a GPU that these operators can use. BUILT_FOR: "cpu" and what the GPU side
was built for, such as "sm_90" (machine code) or "compute_80" (PTX, which the driver compiles for newer
cards at the first use of a kernel). `kernels` has the bare operators.
"""

from typing import Any

import torch

from . import kernels
from .graphs import backend, fuse
from .modules import GELUDropout, LayerNormReLU, LinearGELU, ReLULayerNorm, ResidualRMSNorm
from .operators import (add_mul_exp, add_relu, attention, attention_scores, bias_gelu, gelu, gelu_dropout,
                        layer_norm_relu, linear_gelu, mean_abs, mul_tanh, multiply_add, quantize_int8,
                        quantize_rows, relu_layer_norm, residual_rms_norm, sum_of_squares)
from .rewriting import Report, restore, rewrite

__all__ = ["BUILT_FOR", "CUDA_AVAILABLE", "GELUDropout", "LayerNormReLU", "LinearGELU", "ReLULayerNorm",
           "Report", "ResidualRMSNorm", "add_mul_exp", "add_relu", "attention", "attention_scores", "backend",
           "bias_gelu", "fuse", "gelu", "gelu_dropout", "kernels", "layer_norm_relu", "linear_gelu",
           "mean_abs", "mul_tanh", "multiply_add", "quantize_int8", "quantize_rows", "relu_layer_norm",
           "residual_rms_norm", "restore", "rewrite", "sum_of_squares"]

BUILT_FOR = kernels.BUILT_FOR
CUDA_AVAILABLE: bool


def __getattr__(name: str) -> Any:
    if name == "CUDA_AVAILABLE":  # asked of the driver when it is wanted, since that may take a second
        return kernels.BUILT_WITH_CUDA and torch.cuda.is_available()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
