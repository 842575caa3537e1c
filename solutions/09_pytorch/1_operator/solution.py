"""Exercise 09.1, operator: make a kernel an operator of PyTorch, with a fake.

`given.quantize_rows(x, q, scales, rows, columns, stream)` starts a kernel: for each row of x it stores a
scale and a row of int8 numbers (its comment in given.py says it in full). It gets addresses, so it reads a
transposed x in the wrong order, and torch.compile cannot look into it.

Write `quantize_rows(x)` so that it returns (q, scales), where q has the shape of x and scales has that shape
without its last dimension:

- The work is done by a custom operator in a namespace of your own, so that torch.compile takes it whole.
- x may have any strides and any number of dimensions from 1 on, and may be empty. The kernel cannot be
  launched for no elements.
- Anything but float32 is refused with a TypeError or RuntimeError that names the type.
- The operator changes nothing but what its schema says that it changes, and each call has results of its own.
- The fake implementation says what the operator returns: types, shapes and strides.
- On a GPU the kernel runs on PyTorch's current stream.

Goal: torch.compile(fullgraph=True) takes a function that calls it, and three different numbers of rows need
one graph, because the fake takes sizes as they come.
"""

import torch
from torch import Tensor

import given

# BEGIN SOLUTION


def _results(x):
    """Empty tensors of the types and shapes of the results."""
    return (torch.empty(x.shape, dtype=torch.int8, device=x.device),
            torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device))


@torch.library.custom_op("workbook_exercises::quantize_rows", mutates_args=())
def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    if x.dtype != torch.float32:
        raise TypeError(f"quantize_rows: x must be float32, not {x.dtype}")
    x = x.contiguous()
    q, scales = _results(x)
    stream = torch.cuda.current_stream(x.device).cuda_stream if x.is_cuda else None
    rows, columns = scales.numel(), x.shape[-1]
    if x.numel() > 0:
        given.quantize_rows(x.data_ptr(), q.data_ptr(), scales.data_ptr(), rows, columns, stream)
    return q, scales


@quantize_rows.register_fake
def _(x):
    return _results(x)
# SKELETON
#
# # TODO: make this a custom operator with a fake. It is right for contiguous float32 on the CPU alone.
# def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
#     q = torch.empty_like(x, dtype=torch.int8)
#     scales = torch.empty(x.shape[:-1])
#     rows, columns = scales.numel(), x.shape[-1]
#     given.quantize_rows(x.data_ptr(), q.data_ptr(), scales.data_ptr(), rows, columns)
#     return q, scales
# END SOLUTION
