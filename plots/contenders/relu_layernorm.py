"""Chapter 04: LayerNorm of ReLU, sums along rows and columns, and residual add + RMSNorm."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from contenders.contender import Contender, Found, compared
from contenders.launches import ROW_WARPS, fitting, too_long
from contenders.ours import OURS
from contenders.pytorch import compiled, missing, uniform

EPSILON = 1e-5
# Half of the distance between neighbours, relative to the smaller one.
ROUNDING = {torch.float32: 2 ** -24, torch.float16: 2 ** -11, torch.bfloat16: 2 ** -8}


def make_inputs(shape):
    """Rows differ in scale and in offset. A name such as x_bfloat16 is x rounded to that type."""
    rows, columns = shape
    x = uniform(rows * columns, -2, 3).reshape(rows, columns)
    x.mul_(uniform(rows, 0.25, 1)[:, None]).add_(uniform(rows, 0.25, 1)[:, None])
    inputs = {"x": x, "weight": uniform(columns, 0.5, 1.5), "bias": uniform(columns, -1, 0.5),
              "residual": uniform(rows * columns, -1, 2).reshape(rows, columns)}
    for name in ("x", "weight", "bias", "residual"):
        inputs[f"{name}_bfloat16"] = inputs[name].bfloat16()
    for name in ("x", "weight", "bias"):
        inputs[f"{name}_float16"] = inputs[name].half()
    return inputs


def relu_layernorm(x, weight, bias):
    return F.layer_norm(F.relu(x), weight.shape, weight, bias, EPSILON)


def residual_rmsnorm(x, residual, weight):
    h = x + residual
    return h, F.rms_norm(h, weight.shape, weight, EPSILON)


def squares(x):
    return (x * x).sum(dim=1)


def column_means(x):
    return x.abs().mean(dim=0)


# --- Triton: one row per program, kept in registers ---


@triton.autotune(ROW_WARPS, key=["columns"], prune_configs_by={"early_config_prune": fitting})
@triton.jit
def relu_layernorm_kernel(x, weight, bias, out, epsilon, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    c = tl.arange(0, BLOCK)
    inside = c < columns
    r = tl.maximum(tl.load(x + row + c, inside, other=0.0).to(tl.float32), 0.0)
    mean = tl.sum(r, axis=0) / columns
    centred = tl.where(inside, r - mean, 0.0)
    inverse = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    factor = tl.load(weight + c, inside, other=0.0).to(tl.float32) * inverse
    y = centred * factor + tl.load(bias + c, inside, other=0.0).to(tl.float32)
    tl.store(out + row + c, y, inside)


@triton.autotune(ROW_WARPS, key=["columns"], prune_configs_by={"early_config_prune": fitting})
@triton.jit
def residual_rmsnorm_kernel(x, residual, weight, h_out, y_out, epsilon, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    c = tl.arange(0, BLOCK)
    inside = c < columns
    h = tl.load(x + row + c, inside, other=0.0).to(tl.float32)
    h += tl.load(residual + row + c, inside, other=0.0).to(tl.float32)
    tl.store(h_out + row + c, h, inside)
    inverse = tl.rsqrt(tl.sum(h * h, axis=0) / columns + epsilon)
    factor = tl.load(weight + c, inside, other=0.0).to(tl.float32) * inverse
    tl.store(y_out + row + c, h * factor, inside)


def relu_layernorm_by_triton(x, weight, bias):
    rows, columns = x.shape
    out = torch.empty_like(x)
    relu_layernorm_kernel[(rows,)](x, weight, bias, out, EPSILON, columns,
                                   BLOCK=triton.next_power_of_2(columns))
    return out


def residual_rmsnorm_by_triton(x, residual, weight):
    rows, columns = x.shape
    h, y = torch.empty_like(x), torch.empty_like(x)
    residual_rmsnorm_kernel[(rows,)](x, residual, weight, h, y, EPSILON, columns,
                                     BLOCK=triton.next_power_of_2(columns))
    return h, y


# --- Open libraries, where they are installed ---


def liger_layernorm(x, weight, bias):
    from liger_kernel.transformers.functional import liger_layer_norm
    return liger_layer_norm(F.relu(x), weight, bias, EPSILON)


def liger_residual_rmsnorm(x, residual, weight):
    from liger_kernel.transformers.functional import liger_fused_add_rms_norm
    y, h = liger_fused_add_rms_norm(x, residual, weight, EPSILON, in_place=False)
    return h, y


def quack_layernorm(x, weight, bias):
    """QuACK takes weight and bias in float32, whatever the type of x."""
    from quack.rmsnorm import layernorm_fwd
    return layernorm_fwd(F.relu(x), weight, bias, eps=EPSILON)


def quack_residual_rmsnorm(x, residual, weight):
    from quack.rmsnorm import rmsnorm
    y, h = rmsnorm(x, weight, residual=residual, eps=EPSILON, prenorm=True)
    return h, y


# --- Checks ---


def check_layernorm(inputs, results):
    """Right is what is off by one rounding to the result's type, and what float32 loses before."""
    x, weight, bias = (tensor.double() for tensor in inputs)
    r = torch.relu(x)
    mean = r.mean(dim=1, keepdim=True)
    factor = weight / (((r - mean) ** 2).mean(dim=1, keepdim=True) + EPSILON).sqrt()
    terms = (r + mean) * factor.abs() + bias.abs()
    expected = (r - mean) * factor + bias
    return compared(results[0], expected, terms, ROUNDING[results[0].dtype] * expected.abs() + 1e-6 * terms)


def check_residual(inputs, results):
    """h is rounded once; y may be computed from the rounded h, and be rounded before and after the weight."""
    x, residual, weight = (tensor.double() for tensor in inputs)
    rounding = 1.01 * ROUNDING[results[0].dtype]
    h, terms = x + residual, x.abs() + residual.abs()
    of_h = compared(results[0], h, terms, rounding * h.abs())
    factor = weight / ((h ** 2).mean(dim=1, keepdim=True) + EPSILON).sqrt()
    y, terms = h * factor, terms * factor.abs()
    of_y = compared(results[1], y, terms, 3 * rounding * y.abs() + 1e-6 * terms)
    return Found(max(of_h.error, of_y.error), of_h.right and of_y.right,
                 max(of_h.last_places, of_y.last_places) if of_y.last_places is not None else None)


def check_squares(inputs, results):
    expected = squares(inputs[0].double())
    return compared(results[0], expected, expected, 1e-6 * expected)


def check_columns(inputs, results):
    """A column may be added up one row after the other: 6 sqrt(rows) roundings (Higham and Mary, 2019)."""
    expected = column_means(inputs[0].double())
    return compared(results[0], expected, expected, 6 * inputs[0].shape[0] ** 0.5 * 2 ** -24 * expected)


# --- The contenders ---


def of_a_row(shape, alone, split):
    """Inductor gives several kernels to rows that are too few to fill the GPU with one program each."""
    few = shape[0] < 2 * torch.cuda.get_device_properties(0).multi_processor_count
    return split if few else alone


def libraries(entries, shape, suffix, **common):
    """Of (name, package, what it is, function, its inputs). Liger's kernels hold a row in one program."""
    return [Contender(f"{name}{suffix}", what, function, inputs, of_others=True,
                      skipped=missing(package) or (too_long(shape[1]) if name == "Liger" else ""), **common)
            for name, package, what, function, inputs in entries]


def layernorms(shape, dtype):
    """Weight and bias are of x's type, as in a model of that type and in our stages."""
    rows, columns = shape
    element, n = (4 if dtype == "float32" else 2), rows * columns
    names = ("x", "weight", "bias")
    suffix = "" if dtype == "float32" else f", {dtype}"
    x = "x" if dtype == "float32" else f"x_{dtype}"
    inputs = names if dtype == "float32" else tuple(f"{name}_{dtype}" for name in names)
    common = {"check": check_layernorm, "ours": OURS["04_relu_layernorm"][dtype], "against": "07_unfused"}
    two = {"kernels": (2,), "moved": (2 * element * n, 2 * element * n), **common}  # ReLU in its own kernel
    return [Contender(f"torch{suffix}", "PyTorch as written: ReLU, then LayerNorm", relu_layernorm, inputs,
                      **two),
            *compiled(relu_layernorm, suffix, inputs=inputs, kernels=of_a_row(shape, (1,), (2, 3)),
                      **common),
            Contender(f"Triton{suffix}", "written by hand, one row per program", relu_layernorm_by_triton,
                      inputs, kernels=(1,), skipped=too_long(columns), **common),
            *libraries([("Liger", "liger_kernel", "ReLU, then Liger's layer_norm", liger_layernorm, inputs),
                        ("QuACK", "quack", "ReLU, then QuACK's layernorm", quack_layernorm,
                         (x, "weight", "bias"))], shape, suffix, **two)]


def residuals(shape, dtype):
    rows, columns = shape
    element, n = (4 if dtype == "float32" else 2), rows * columns
    names = ("x", "residual", "weight")
    inputs = names if dtype == "float32" else tuple(f"{name}_{dtype}" for name in names)
    suffix = ", residual" if dtype == "float32" else f", residual, {dtype}"
    stages = OURS["04_relu_layernorm"]
    common = {"check": check_residual, "ours": stages[f"residual, {dtype}"],
              "against": stages["residual, float32"][0]}
    return [Contender(f"torch{suffix}", "PyTorch as written: addition, then RMSNorm", residual_rmsnorm,
                      inputs, kernels=(2,), moved=(3 * element * n, 2 * element * n), **common),
            *compiled(residual_rmsnorm, suffix, inputs=inputs, kernels=of_a_row(shape, (1,), (2, 3, 4)),
                      **common),
            Contender(f"Triton{suffix}", "written by hand, one row per program", residual_rmsnorm_by_triton,
                      inputs, kernels=(1,), skipped=too_long(columns), **common),
            *libraries([("Liger", "liger_kernel", "Liger's fused_add_rms_norm", liger_residual_rmsnorm,
                         inputs),
                        ("QuACK", "quack", "QuACK's rmsnorm with a residual", quack_residual_rmsnorm,
                         inputs)], shape, suffix, kernels=(1,), **common)]


def sums(shape):
    stages = OURS["04_relu_layernorm"]
    row = {"inputs": ("x",), "check": check_squares, "ours": stages["squares"],
           "against": "01_atomic", "kernels": of_a_row(shape, (1,), (2,))}
    column = {"inputs": ("x",), "check": check_columns, "ours": stages["columns"],
              "against": "06_columns", "kernels": (1, 2)}  # two where Inductor splits the columns
    return [*compiled(squares, ", squares", **row), *compiled(column_means, ", columns", **column)]


def contenders(shape):
    return [*layernorms(shape, "float32"), *sums(shape), *layernorms(shape, "bfloat16"),
            *layernorms(shape, "float16"), *residuals(shape, "float32"), *residuals(shape, "bfloat16")]
