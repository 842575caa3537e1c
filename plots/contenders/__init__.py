"""The contenders of our stages: PyTorch, Triton and open libraries. One module for each chapter.

A module has make_inputs(shape), which returns tensors by name, and contenders(shape). It needs PyTorch and
Triton, so it is imported only when both are known to be there.
"""

import importlib

MODULES = {"01_multiply_add": "multiply_add", "02_add_mul_exp": "add_mul_exp",
           "03_quantize_int8": "quantize_int8", "04_relu_layernorm": "relu_layernorm",
           "05_linear_gelu": "linear_gelu", "06_tensor_cores": "tensor_cores",
           "07_gelu_dropout": "gelu_dropout", "08_attention": "attention"}


def module_of(chapter):
    return importlib.import_module(f"contenders.{MODULES[chapter]}")
