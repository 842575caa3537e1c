"""Chapter 03: float32 to int8, with one scale for all elements or a scale for each row."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from contenders.contender import Contender, Found
from contenders.launches import BLOCKS, ROW_WARPS, elementwise, fitting, too_long
from contenders.ours import OURS
from contenders.pytorch import AS_WRITTEN, compiled, uniform

SCALE, ZERO_POINT = 0.05, 3
LEAST = 1e-5  # of a row's largest absolute value: a row of zeros must not divide by zero


def make_inputs(shape):
    rows, columns = shape
    x = uniform(rows * columns, -7, 8).reshape(rows, columns)
    if rows > 1:
        x *= uniform(rows, 0.1, 1)[:, None]
    return {"x": x}


def quantized(x):
    return torch.clamp(torch.round(x / SCALE + ZERO_POINT), -128, 127).to(torch.int8)


def quantized_rows(x):
    scale = x.abs().amax(dim=1, keepdim=True).clamp(min=LEAST) / 127
    return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8), scale


def per_tensor(x):
    return torch.quantize_per_tensor(x, SCALE, ZERO_POINT, torch.qint8)


# --- Triton ---


@triton.jit
def to_int8(x, scale, zero_point):
    """With an exact division, as our stages have it."""
    step = libdevice.rint(tl.div_rn(x, scale) + zero_point)
    return tl.minimum(tl.maximum(step, -128.0), 127.0).to(tl.int8)


@triton.autotune(BLOCKS, key=["n"])
@triton.jit
def quantize_kernel(x, out, scale, zero_point, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, to_int8(tl.load(x + i, inside), scale, zero_point), inside)


@triton.autotune(ROW_WARPS, key=["columns"], prune_configs_by={"early_config_prune": fitting})
@triton.jit
def quantize_rows_kernel(x, out, scales, least, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < columns
    values = tl.load(x + row * columns + c, inside, other=0.0)
    scale = tl.div_rn(tl.maximum(tl.max(tl.abs(values), axis=0), least), 127.0)
    tl.store(out + row * columns + c, to_int8(values, scale, 0.0), inside)
    tl.store(scales + row, scale)


def by_triton(x):
    out = torch.empty_like(x, dtype=torch.int8)
    n = x.numel()
    quantize_kernel[elementwise(n)](x, out, SCALE, float(ZERO_POINT), n)
    return out


def rows_by_triton(x):
    rows, columns = x.shape
    out = torch.empty_like(x, dtype=torch.int8)
    scales = x.new_empty(rows, 1)
    quantize_rows_kernel[(rows,)](x, out, scales, LEAST, columns, BLOCK=triton.next_power_of_2(columns))
    return out, scales


# --- Checks ---


def on_gpu(value):
    """PyTorch multiplies by the reciprocal of a Python number, but divides by a tensor on the GPU."""
    return torch.tensor(value, device="cuda", dtype=torch.float32)


def found(q, x, scale, zero_point):
    """The error is in steps, from a division in float32; right is any step that a few roundings lead to."""
    defined = torch.clamp(torch.round(x / scale + zero_point), -128, 127)
    steps = float((q - defined).abs().max())
    quotient = x.double() / scale.double()
    exact = torch.clamp(quotient + zero_point, -128, 127)
    beyond = (q - exact).abs() - 0.5  # of the nearest step's distance: more than 0 next to a tie alone
    return Found(steps, bool((beyond <= 2 ** -20 * (quotient.abs() + zero_point)).all()))


def check(inputs, results):
    q = results[0].int_repr() if results[0].is_quantized else results[0]
    return found(q, inputs[0], on_gpu(SCALE), ZERO_POINT)


def check_rows(inputs, results):
    x, (q, scales) = inputs[0], results
    expected = x.abs().amax(dim=1, keepdim=True).clamp(min=LEAST) / on_gpu(127)
    of_q = found(q, x, expected, 0)
    scales_right = (scales.double() - expected.double()).abs() <= 2 ** -22 * expected
    return Found(of_q.error, of_q.right and bool(scales_right.all()))


def contenders(shape):
    rows, columns = shape
    n = rows * columns
    stages = OURS["03_quantize_int8"]
    common = {"inputs": ("x",), "check": check, "ours": stages["q"]}
    entries = [
        Contender("torch", AS_WRITTEN, quantized, kernels=(5,), moved=(20 * n, 17 * n), **common),
        Contender("torch.quantize_per_tensor", "PyTorch's own call", per_tensor, kernels=(1,),
                  of_others=True, **common),
        *compiled(quantized, kernels=(1,), **common),
        Contender("Triton", "written by hand, block size by autotune", by_triton, kernels=(1,), **common)]
    if rows == 1:
        return entries
    common = {"inputs": ("x",), "check": check_rows, "ours": stages["q_rows"]}
    return entries + [
        Contender("torch, rows", "PyTorch as written: a scale for each row", quantized_rows,
                  kernels=(8,), moved=(24 * n, 17 * n), **common),
        *compiled(quantized_rows, ", rows", kernels=(1,), **common),
        Contender("Triton, rows", "written by hand, one row per program", rows_by_triton, kernels=(1,),
                  skipped=too_long(columns), **common)]
