"""The operator of stage 3 with its gradient registered in Python. Every call now goes through Python code of
autograd, even where no gradient is wanted."""

import torch
from workbook_ops import kernels


def setup_context(ctx, inputs, output):
    q, k, _ = inputs
    ctx.save_for_backward(q, k)


def backward(ctx, grad):
    return *kernels.multiply_add_backward(grad, *ctx.saved_tensors), grad


torch.library.register_autograd("workbook_ops::multiply_add", backward, setup_context=setup_context)
multiply_add = kernels.multiply_add
