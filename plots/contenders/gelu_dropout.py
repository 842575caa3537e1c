"""Chapter 07: GELU + dropout forward and backward, and what transformers run around it, in two types.

GELU is the form with erf. A contender draws random numbers of its own, so a check asks of each element
whether it is one of two values, dropped or kept, and of all of them how many are dropped.
"""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from contenders.contender import Contender, Found, compared, last_places
from contenders.launches import elementwise
from contenders.ours import OURS
from contenders.pytorch import compiled, missing, uniform

P, SCALE = 0.1, 1 / (1 - 0.1)
SEED = 42
EPSILON = 1e-5
# Half of the distance between neighbours, relative to the smaller one.
ROUNDING = {torch.float32: 2 ** -24, torch.bfloat16: 2 ** -8}


def make_inputs(shape):
    """`kept` is a mask that a forward pass has saved. A name such as x_bfloat16 is x rounded to that type."""
    rows, columns = shape
    n = rows * columns
    inputs = {"x": uniform(n, -4, 3).reshape(shape), "dy": uniform(n, -1.5, 1).reshape(shape),
              "residual": uniform(n, -1, 2).reshape(shape), "bias": uniform(columns, -1, 0.5),
              "weight": uniform(columns, 0.5, 1.5)}
    for name in list(inputs):
        inputs[f"{name}_bfloat16"] = inputs[name].bfloat16()
    return {**inputs, "kept": uniform(n, 0, 1).reshape(shape) >= P}


def forward(x):
    return F.dropout(F.gelu(x), P)


def backward(x, dy, kept):
    """The function that autograd runs."""
    return torch.ops.aten.gelu_backward(torch.ops.aten.native_dropout_backward(dy, kept, SCALE), x)


def block(x, bias, residual):
    return residual + F.dropout(F.gelu(x + bias), P)


def residual_rmsnorm(x, residual, weight):
    h = residual + F.dropout(x, P)
    return h, F.rms_norm(h, weight.shape, weight, EPSILON)


# --- Triton: a call of Philox for four elements ---


# How far they are apart, whatever the tile: a backward pass has to drop what its forward pass dropped, and
# each kernel's tile is tuned for itself.
APART = tl.constexpr(128)
QUARTERS = [triton.Config({"BLOCK": 4 * quarter, "QUARTER": quarter}, num_warps=warps)
            for quarter in (128, 256, 512, 1024) for warps in (4, 8)]


@triton.jit
def gelu(v):
    return 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))


@triton.jit
def gelu_slope(v):
    density = tl.exp(-0.5 * v * v) * 0.3989422804014327
    return 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)) + v * density


@triton.jit
def forward_of(x, out, i, n, number, p, scale):
    inside = i < n
    v = tl.load(x + i, inside, other=0.0).to(tl.float32)
    tl.store(out + i, tl.where(number >= p, gelu(v) * scale, 0.0), inside)


@triton.jit
def backward_of(x, dy, out, i, n, number, p, scale):
    inside = i < n
    v = tl.load(x + i, inside, other=0.0).to(tl.float32)
    slope = tl.load(dy + i, inside, other=0.0).to(tl.float32) * scale * gelu_slope(v)
    tl.store(out + i, tl.where(number >= p, slope, 0.0), inside)


@triton.autotune(QUARTERS, key=["n"])
@triton.jit
def forward_kernel(x, out, n, seed, p, scale, BLOCK: tl.constexpr, QUARTER: tl.constexpr):
    call = tl.program_id(0) * QUARTER + tl.arange(0, QUARTER)
    i = call // APART * (4 * APART) + call % APART
    r0, r1, r2, r3 = tl.rand4x(seed, call)
    forward_of(x, out, i, n, r0, p, scale)
    forward_of(x, out, i + APART, n, r1, p, scale)
    forward_of(x, out, i + 2 * APART, n, r2, p, scale)
    forward_of(x, out, i + 3 * APART, n, r3, p, scale)


@triton.autotune(QUARTERS, key=["n"])
@triton.jit
def backward_kernel(x, dy, out, n, seed, p, scale, BLOCK: tl.constexpr, QUARTER: tl.constexpr):
    call = tl.program_id(0) * QUARTER + tl.arange(0, QUARTER)
    i = call // APART * (4 * APART) + call % APART
    r0, r1, r2, r3 = tl.rand4x(seed, call)
    backward_of(x, dy, out, i, n, r0, p, scale)
    backward_of(x, dy, out, i + APART, n, r1, p, scale)
    backward_of(x, dy, out, i + 2 * APART, n, r2, p, scale)
    backward_of(x, dy, out, i + 3 * APART, n, r3, p, scale)


def forward_by_triton(x):
    out, n = torch.empty_like(x), x.numel()
    forward_kernel[elementwise(n)](x, out, n, SEED, P, SCALE)
    return out


def backward_by_triton(x, dy):
    out, n = torch.empty_like(x), x.numel()
    backward_kernel[elementwise(n)](x, dy, out, n, SEED, P, SCALE)
    return out


# --- An open library, where it is installed ---


def transformer_engine(x):
    """Its dropout saves a mask of bits."""
    import transformer_engine_torch
    return transformer_engine_torch.dropout_fwd(F.gelu(x), P)[0]


# --- Checks ---


def either(got, base, term, terms, within):
    """Right if each element is base + term or base, by at most `within` off, and the share of base is P.

    That share is taken where the two differ clearly, within six sigma; so is the share of neighbours that are
    both dropped, which would be P where they have a number in common.
    """
    off_kept, off_dropped = (got - base - term).abs(), (got - base).abs()
    right = (torch.minimum(off_kept, off_dropped) <= within).all()
    clear, dropped = term.abs() > 4 * within, off_dropped < off_kept
    pairs = clear[..., 1:] & clear[..., :-1]
    for share, among, found in ((P, clear, dropped), (P * P, pairs, dropped[..., 1:] & dropped[..., :-1])):
        count = among.sum()
        off = ((found & among).sum() - share * count).abs()
        right &= off <= 6 * (count * share * (1 - share)).sqrt()
    expected = torch.where(dropped, base, base + term)
    return bool(right), expected, float((torch.minimum(off_kept, off_dropped) / terms).max())


def found_either(got, base, term, terms, roundings):
    """`roundings`: how far it may be off, in roundings to the result's type of the sizes of its parts."""
    within = ROUNDING[got.dtype] * roundings + 1e-6 * terms
    right, expected, error = either(got.double(), base, term, terms, within)
    places = last_places(got, expected, terms) if got.dtype == torch.bfloat16 else None
    return Found(error, right, places), expected


def check_forward(inputs, results):
    """GELU may be rounded before it is scaled."""
    x = inputs[0].double()
    term = SCALE * F.gelu(x)
    return found_either(results[0], torch.zeros_like(x), term, SCALE * x.abs(), 2.1 * term.abs())[0]


def slope_of(x):
    return 0.5 * (1 + torch.erf(x * 0.5 ** 0.5)) + x * torch.exp(-0.5 * x * x) * (0.5 / torch.pi) ** 0.5


def size_of_slope(x, dy):
    return SCALE * dy.abs() * (1 + x.abs())


def check_backward(inputs, results):
    """With a mask of the forward pass. The scaled dy may be rounded."""
    x, dy, kept = (tensor.double() for tensor in inputs)
    expected, terms = SCALE * dy * kept * slope_of(x), size_of_slope(x, dy)
    return compared(results[0], expected, terms,
                    2.1 * ROUNDING[results[0].dtype] * expected.abs() + 1e-6 * terms)


def check_backward_by_triton(inputs, results):
    """With the mask of its own forward pass."""
    x, dy = inputs
    kept = forward_by_triton(torch.ones_like(x)) != 0
    return check_backward((x, dy, kept), results)


def check_block(inputs, results):
    """x + bias may be rounded, which GELU stretches by up to 1.13, and so may GELU, dropout and the sum."""
    x, bias, residual = (tensor.double() for tensor in inputs)
    term = SCALE * F.gelu(x + bias)
    largest = 1.13 * SCALE * (x + bias).abs() + 3 * term.abs() + residual.abs()
    terms = 1.13 * SCALE * (x.abs() + bias.abs()) + residual.abs()
    return found_either(results[0], residual, term, terms, 1.05 * largest)[0]


def check_norm(inputs, results):
    """Dropout and h are rounded; y may be computed from the rounded h, and be rounded before the weight."""
    x, residual, weight = (tensor.double() for tensor in inputs)
    term = SCALE * x
    terms = term.abs() + residual.abs()
    of_h, _ = found_either(results[0], residual, term, terms, 1.05 * (2 * term.abs() + residual.abs()))
    h = results[0].double()
    factor = weight / ((h ** 2).mean(dim=1, keepdim=True) + EPSILON).sqrt()
    y, terms = h * factor, terms * factor.abs()
    of_y = compared(results[1], y, terms, ROUNDING[results[1].dtype] * (3 * y.abs() + terms) + 1e-6 * terms)
    return Found(max(of_h.error, of_y.error), of_h.right and of_y.right,
                 max(of_h.last_places, of_y.last_places))


# --- The contenders ---


def of_type(names, dtype):
    return names if dtype == "float32" else tuple(f"{name}_{dtype}" for name in names)


def forwards(shape, dtype):
    """Inductor draws a seed in a kernel of its own. PyTorch's dropout writes a mask of bytes as well."""
    element, n = (4 if dtype == "float32" else 2), shape[0] * shape[1]
    suffix = f", forward, {dtype}"
    common = {"inputs": of_type(("x",), dtype), "check": check_forward,
              "ours": OURS["07_gelu_dropout"][f"forward, {dtype}"]}
    return [Contender(f"torch{suffix}", "PyTorch as written: GELU, then dropout", forward, kernels=(2,),
                      moved=(2 * element * n, 2 * element * n + n), **common),
            *compiled(forward, suffix, kernels=(1, 2), **common),
            Contender(f"Triton{suffix}", "written by hand, a call for four elements", forward_by_triton,
                      kernels=(1,), **common),
            Contender(f"TransformerEngine{suffix}", "GELU, then its dropout with a mask of bits",
                      transformer_engine, kernels=(2,), of_others=True,
                      skipped=missing("transformer_engine_torch"), **common)]


def backwards(shape, dtype):
    element, n = (4 if dtype == "float32" else 2), shape[0] * shape[1]
    suffix = f", backward, {dtype}"
    inputs = of_type(("x", "dy"), dtype)
    common = {"ours": OURS["07_gelu_dropout"][f"backward, {dtype}"], "against": "07_byte_mask"}
    masked = {"inputs": (*inputs, "kept"), "check": check_backward, **common}
    return [Contender(f"torch{suffix}", "PyTorch as autograd runs it, from a mask of bytes", backward,
                      kernels=(2,), moved=(3 * element * n + n, 2 * element * n), **masked),
            *compiled(backward, suffix, kernels=(1,), **masked),
            Contender(f"Triton{suffix}", "written by hand, the mask drawn again", backward_by_triton,
                      inputs=inputs, check=check_backward_by_triton, kernels=(1,), **common)]


def of_transformers(shape):
    n = shape[0] * shape[1]
    stages = OURS["07_gelu_dropout"]
    whole = {"inputs": of_type(("x", "bias", "residual"), "bfloat16"), "check": check_block,
             "ours": stages["block"], "against": "11_residual"}
    norm = {"inputs": of_type(("x", "residual", "weight"), "bfloat16"), "check": check_norm,
            "ours": stages["norm"], "against": "12_rms_norm"}
    return [Contender("torch, residual", "PyTorch as written: four kernels", block, kernels=(4,),
                      moved=(10 * n, 8 * n + n), **whole),
            *compiled(block, ", residual", kernels=(1, 2), **whole),
            Contender("torch, RMSNorm", "PyTorch as written: dropout, addition, RMSNorm", residual_rmsnorm,
                      kernels=(3,), moved=(8 * n, 6 * n + n), **norm),
            *compiled(residual_rmsnorm, ", RMSNorm", kernels=(1, 2, 3), **norm)]


def contenders(shape):
    return [*forwards(shape, "float32"), *forwards(shape, "bfloat16"), *backwards(shape, "float32"),
            *backwards(shape, "bfloat16"), *of_transformers(shape)]
