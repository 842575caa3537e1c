"""Chapter 05: y = gelu(x w^T + bias) in float32 without TF32, with both forms of GELU."""

import functools

import torch.nn.functional as F
import triton
import triton.language as tl

from contenders.contender import Contender, compared
from contenders.ours import OURS
from contenders.pytorch import compiled, uniform

FORMS = {"erf": "none", "tanh": "tanh"}  # what F.gelu calls them


def make_inputs(shape):
    m, k, n = shape
    reach = 3 / k ** 0.5  # the product's variance is about 1, where GELU is curved
    return {"x": uniform(m * k, -1, 1).reshape(m, k), "w": uniform(n * k, -reach, reach).reshape(n, k),
            "bias": uniform(n, -0.5, 1)}


def formula(form):
    approximate = FORMS[form]

    def linear_gelu(x, w, bias):
        return F.gelu(F.linear(x, w, bias), approximate=approximate)

    return linear_gelu


# --- Triton ---


def tile(rows, columns, depth, warps, stages):
    return triton.Config({"BM": rows, "BN": columns, "BK": depth, "GROUP": 8}, num_warps=warps,
                         num_stages=stages)


@triton.jit
def linear_gelu_tile(x, w, bias, out, m, n, k, TANH: tl.constexpr, BM: tl.constexpr,
                     BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """One tile of the result. Tiles are taken in groups of GROUP rows of tiles, which share columns of w."""
    program = tl.program_id(0)
    per_group = GROUP * tl.cdiv(n, BN)
    first = program // per_group * GROUP
    height = tl.minimum(tl.cdiv(m, BM) - first, GROUP)
    tile_row = first + program % per_group % height
    tile_column = program % per_group // height

    rows = tile_row * BM + tl.arange(0, BM)
    columns = tile_column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    # Beyond the edge another row is read, whose products are not stored.
    x_at = x + (rows % m).to(tl.int64)[:, None] * k + depth[None, :]
    w_at = w + (columns % n).to(tl.int64)[None, :] * k + depth[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        x_tile = tl.load(x_at, mask=depth[None, :] < k - start, other=0.0)
        w_tile = tl.load(w_at, mask=depth[:, None] < k - start, other=0.0)
        total = tl.dot(x_tile, w_tile, total, input_precision="ieee")  # of float32: without TF32
        x_at += BK
        w_at += BK

    v = total + tl.load(bias + columns, columns < n, other=0.0).to(tl.float32)[None, :]
    if TANH:
        # 0.5 (1 + tanh(u)) = sigmoid(2 u)
        y = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        y = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(out + rows.to(tl.int64)[:, None] * n + columns[None, :], y, inside)


KEY = ["m", "n", "k", "TANH"]
float32_kernel = triton.autotune([tile(64, 64, 16, 4, 3), tile(128, 64, 16, 4, 3), tile(128, 64, 16, 8, 3),
                                  tile(128, 128, 16, 8, 3), tile(128, 128, 32, 8, 2)],
                                 key=KEY)(linear_gelu_tile)


def by_triton(kernel, form):
    def linear_gelu(x, w, bias):
        (m, k), n = x.shape, w.shape[0]
        out = x.new_empty(m, n)

        def tiles(chosen):
            return triton.cdiv(m, chosen["BM"]) * triton.cdiv(n, chosen["BN"]),

        kernel[tiles](x, w, bias, out, m, n, k, TANH=form == "tanh")
        return out

    return linear_gelu


# --- Checks ---

CHECKED_ROWS = 256  # in double precision, all of them would take longer than the rest


def check(form, tolerance, inputs, results):
    """Rows from all over the result, each with all its columns.

    `tolerance` is relative to all terms of an element, and to the product and the bias as one term each.
    """
    every = max(inputs[0].shape[0] // CHECKED_ROWS, 1)
    x, w, bias = inputs[0][::every].double(), inputs[1].double(), inputs[2].double()
    product = x @ w.t()
    terms = x.abs() @ w.abs().t() + bias.abs()
    of_terms, of_two = tolerance
    return compared(results[0][::every], F.gelu(product + bias, approximate=FORMS[form]), terms,
                    of_terms * terms + of_two * (product.abs() + bias.abs()))


def right(form, tolerance):
    return functools.partial(check, form, tolerance)


# --- The contenders ---


def traffic(shape, element):
    """(operations, bytes read, bytes written) of one kernel that computes all."""
    m, k, n = shape
    return 2 * m * k * n, element * (m * k + n * k + n), element * m * n


def contenders(shape):
    flops, read, written = traffic(shape, 4)
    entries = []
    for form in FORMS:
        common = {"inputs": ("x", "w", "bias"), "check": right(form, (1e-6, 0)), "flops": flops,
                  "ours": OURS["05_linear_gelu"][form]}
        entries += [Contender(f"torch, {form}", "PyTorch as written: Linear, then GELU", formula(form),
                              kernels=(2,), moved=(read + written, 2 * written), **common),
                    *compiled(formula(form), f", {form}", kernels=(1, 2, 3), **common),
                    Contender(f"Triton, {form}", "written by hand, tiles by autotune",
                              by_triton(float32_kernel, form), kernels=(1,), **common)]
    return entries
