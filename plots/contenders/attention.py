"""Chapter 08: softmax(q k^T / sqrt(d)) v, full and causal; the weights alone; one query with many keys."""

import functools

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from contenders.contender import Contender, compared
from contenders.ours import OURS
from contenders.pytorch import compiled, uniform

try:
    from fa3_fwd_interface import flash_attn_func  # the package fa3-fwd: FlashAttention-3's forward kernels
except ModuleNotFoundError:
    flash_attn_func = None

# Half of the distance between neighbours, relative to the smaller one.
ROUNDING = {torch.float32: 2 ** -24, torch.bfloat16: 2 ** -8}
LOG2_E = 1.4426950408889634


def make_inputs(shape):
    """A name such as q_bfloat16 is q rounded to that type."""
    heads, key_heads, queries, keys, d = shape
    inputs = {"q": uniform(heads * queries * d, -2.5, 2.5).reshape(heads, queries, d),
              "k": uniform(key_heads * keys * d, -1.5, 2).reshape(key_heads, keys, d),
              "v": uniform(key_heads * keys * d, -1, 2).reshape(key_heads, keys, d)}
    return {**inputs, **{f"{name}_bfloat16": tensor.bfloat16() for name, tensor in inputs.items()}}


def shared(q, k):
    """Whether several heads of q share one of k and v."""
    return q.shape[0] != k.shape[0]


# --- PyTorch ---


def weights(q, k):
    k = k.repeat_interleave(q.shape[0] // k.shape[0], dim=0) if shared(q, k) else k
    return F.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, dim=-1)


def sdpa(backend, causal):
    """All heads as those of one sequence. With fewer queries than keys, PyTorch's mask is another one."""

    def attention(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal,
                                                  enable_gqa=shared(q, k))[0]

    return attention


def flash3(causal):

    def attention(q, k, v):
        result = flash_attn_func(*(tensor[None].transpose(1, 2) for tensor in (q, k, v)), causal=causal)
        return (result[0] if isinstance(result, tuple) else result)[0].transpose(0, 1)

    return attention


compiled_flex = torch.compile(flex_attention, dynamic=False)


@functools.cache
def causal_blocks(queries, keys):
    return create_block_mask(lambda b, h, query, key: query >= key, None, None, queries, keys)


def flex(causal):

    def attention(q, k, v):
        mask = causal_blocks(q.shape[1], k.shape[1]) if causal else None
        return compiled_flex(q[None], k[None], v[None], block_mask=mask, enable_gqa=shared(q, k))[0]

    return attention


# --- Triton: flash attention, one program per head and BM queries ---

TILES = [triton.Config({"BM": rows, "BN": columns}, num_warps=warps, num_stages=stages)
         for rows, warps in ((64, 4), (128, 4), (128, 8)) for columns in (32, 64, 128)
         for stages in (2, 3, 4)]


@triton.jit
def attend(acc, largest, total, q_tile, k, v, first, end, rows, keys, offset, scale, D: tl.constexpr,
           CAUSAL: tl.constexpr, MASKED: tl.constexpr, BN: tl.constexpr):
    """The keys [first, end) of a tile of queries; `scale` includes log2(e)."""
    columns, depth = tl.arange(0, BN), tl.arange(0, D)
    for start in range(first, end, BN):
        at = start + columns
        inside = at < keys
        k_tile = tl.load(k + at[None, :] * D + depth[:, None], inside[None, :] if MASKED else None)
        scores = tl.dot(q_tile, k_tile) * scale
        if MASKED:
            seen = inside[None, :] & (at[None, :] <= rows[:, None] + offset) if CAUSAL else inside[None, :]
            scores = tl.where(seen, scores, -1e30)
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp2(scores - new_largest[:, None])
        factor = tl.exp2(largest - new_largest)
        total = total * factor + tl.sum(p, 1)
        v_tile = tl.load(v + at[:, None] * D + depth[None, :], inside[:, None] if MASKED else None,
                         other=0.0 if MASKED else None)
        acc = tl.dot(p.to(v_tile.dtype), v_tile, acc * factor[:, None])
        largest = new_largest
    return acc, largest, total


@triton.autotune(TILES, key=["queries", "keys", "D", "CAUSAL"])
@triton.jit
def attention_kernel(q, k, v, out, queries, keys, heads_each, scale, D: tl.constexpr, CAUSAL: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr):
    tile, head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    if CAUSAL:  # the longest first
        tile = tl.num_programs(0) - 1 - tile
    rows, depth = tile * BM + tl.arange(0, BM), tl.arange(0, D)
    inside = rows[:, None] < queries
    place = rows[:, None] * D + depth[None, :]
    q_tile = tl.load(q + head * queries * D + place, inside, other=0.0)
    k += head // heads_each * keys * D
    v += head // heads_each * keys * D
    acc = tl.zeros((BM, D), tl.float32)
    largest = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    offset = keys - queries  # the last query sees all keys
    end = tl.minimum(keys, tile * BM + BM + offset) if CAUSAL else keys
    seen_by_all = tl.minimum(keys, tl.maximum(tile * BM + offset + 1, 0)) if CAUSAL else keys
    whole = seen_by_all // BN * BN
    acc, largest, total = attend(acc, largest, total, q_tile, k, v, 0, whole, rows, keys, offset, scale, D,
                                 CAUSAL, False, BN)
    acc, largest, total = attend(acc, largest, total, q_tile, k, v, whole, end, rows, keys, offset, scale, D,
                                 CAUSAL, True, BN)
    tl.store(out + head * queries * D + place, (acc / total[:, None]).to(out.dtype.element_ty), inside)


def by_triton(causal):

    def attention(q, k, v):
        heads, queries, d = q.shape
        out = torch.empty_like(q)
        attention_kernel[lambda chosen: (triton.cdiv(queries, chosen["BM"]), heads)](
            q, k, v, out, queries, k.shape[1], heads // k.shape[0], d ** -0.5 * LOG2_E, d, causal)
        return out

    return attention


# --- Checks: of some rows, in double precision ---

CHECKED_ROWS = 64


def checked(q):
    """Pairs of a head and a query, from all over q."""
    rows = q.shape[0] * q.shape[1]
    every = max(rows // CHECKED_ROWS, 1)
    first = torch.arange(0, rows - every + 1, every, device=q.device)
    row = first + torch.arange(len(first), device=q.device) * 7919 % every
    return row // q.shape[1], row % q.shape[1]


def reference_weights(q, k, causal):
    """(heads, queries, the scores' largest size of each row, weights) of the rows that are checked."""
    head, query = checked(q)
    k_of = k[head * k.shape[0] // q.shape[0]].double()
    scores = torch.einsum("rd,rkd->rk", q[head, query].double(), k_of) * q.shape[-1] ** -0.5
    size = scores.abs().amax(dim=1, keepdim=True)
    if causal:
        key = torch.arange(k.shape[1], device=q.device)
        scores = scores.masked_fill(key > query[:, None] + k.shape[1] - q.shape[1], -torch.inf)
    return head, query, size, scores.softmax(dim=1)


def check_weights(inputs, results):
    """In bfloat16 the product, its multiple and the weight are rounded; in float32, sums over d are off."""
    q, k = inputs
    head, query, size, expected = reference_weights(q, k, False)
    got, rounding = results[0][head, query], ROUNDING[q.dtype]
    of_score = 3 * rounding * size if q.dtype == torch.bfloat16 else 1e-5 * (1 + size)
    return compared(got, expected, expected + 1e-30, (2 * of_score + 1.05 * rounding) * expected + 1e-30)


def check_output(causal, inputs, results):
    """In bfloat16 each weight is rounded before it is multiplied; in float32 it is computed without TF32."""
    q, k, v = inputs
    head, query, size, weight = reference_weights(q, k, causal)
    v_of = v[head * v.shape[0] // q.shape[0]].double()
    expected, terms = (torch.einsum("rk,rkd->rd", weight, of) for of in (v_of, v_of.abs()))
    of_weights = torch.einsum("rk,rkd->rd", weight ** 2, v_of ** 2).sqrt()
    within = 1e-5 * (1 + size) * terms
    if q.dtype == torch.bfloat16:
        within += 1.05 * ROUNDING[q.dtype] * (expected.abs() + 3 * of_weights)
    return compared(results[0][head, query], expected, terms, within)


# --- The contenders ---


def visible_pairs(shape, causal):
    heads, _, queries, keys, _ = shape
    rows = (max(min(keys, query + 1 + keys - queries), 0) for query in range(queries))
    return heads * (sum(rows) if causal else queries * keys)


def of_type(names, dtype):
    return names if dtype == "float32" else tuple(f"{name}_{dtype}" for name in names)


def of_weights(shape, dtype):
    suffix = f", weights, {dtype}"
    element, pairs = (4 if dtype == "float32" else 2), visible_pairs(shape, False)
    once = element * shape[-1] * (shape[0] * shape[2] + shape[1] * shape[3])
    common = {"inputs": of_type(("q", "k"), dtype), "check": check_weights,
              "flops": 2 * pairs * shape[-1], "ours": OURS["08_attention"][f"weights, {dtype}"]}
    return [Contender(f"torch{suffix}", "PyTorch as written: product, scale, softmax", weights,
                      kernels=(3, 4), moved=(once + 2 * element * pairs, 3 * element * pairs), **common),
            *compiled(weights, suffix, kernels=(1, 2, 3, 4), **common)]


def of_attention(shape, dtype, causal):
    """PyTorch's mask is ours only with the same number of queries and keys."""
    kind = f"causal, {dtype}" if causal else dtype
    common = {"inputs": of_type(("q", "k", "v"), dtype), "check": functools.partial(check_output, causal),
              "flops": 4 * visible_pairs(shape, causal) * shape[-1], "ours": OURS["08_attention"][kind],
              "against": "09_masked" if causal else "04_three_kernels"}
    if dtype == "float32":
        return [Contender(f"SDPA, efficient, {kind}", "PyTorch's memory-efficient attention, of xFormers",
                          sdpa(SDPBackend.EFFICIENT_ATTENTION, causal), kernels=(1,), **common)]
    power = shape[-1] & (shape[-1] - 1) == 0 and shape[-1] >= 16
    return [Contender(f"SDPA, flash, {kind}", "FlashAttention-2 in PyTorch",
                      sdpa(SDPBackend.FLASH_ATTENTION, causal), kernels=(1, 2), **common),
            Contender(f"SDPA, cuDNN, {kind}", "cuDNN's attention in PyTorch",
                      sdpa(SDPBackend.CUDNN_ATTENTION, causal), kernels=(1, 2), of_others=True, **common),
            Contender(f"FlashAttention-3, {kind}", "the package fa3-fwd", flash3(causal), kernels=(1, 2),
                      of_others=True, skipped="" if flash_attn_func else "needs the package fa3-fwd",
                      **common),
            Contender(f"flex_attention, {kind}", "PyTorch's flex_attention, compiled", flex(causal),
                      kernels=(1, 2, 3), **common),
            Contender(f"Triton, {kind}", "written by hand: flash attention, tiles by autotune",
                      by_triton(causal), kernels=(1,),
                      skipped="" if power else "d is not a power of two", **common)]


def of_decoding(shape):
    """Few queries: what splits the keys needs a kernel that combines the parts."""
    common = {"inputs": of_type(("q", "k", "v"), "bfloat16"), "check": functools.partial(check_output, False),
              "flops": 4 * visible_pairs(shape, False) * shape[-1], "ours": OURS["08_attention"]["decode"],
              "against": "11_split"}
    return [Contender("SDPA, flash, decode", "FlashAttention-2 in PyTorch",
                      sdpa(SDPBackend.FLASH_ATTENTION, False), kernels=(1, 2), **common),
            Contender("SDPA, cuDNN, decode", "cuDNN's attention in PyTorch",
                      sdpa(SDPBackend.CUDNN_ATTENTION, False), kernels=(1, 2, 3), of_others=True, **common),
            Contender("SDPA, efficient, decode", "PyTorch's memory-efficient attention, of xFormers",
                      sdpa(SDPBackend.EFFICIENT_ATTENTION, False), kernels=(1,), **common),
            Contender("flex_attention, decode", "PyTorch's flex_attention, compiled", flex(False),
                      kernels=(1, 2, 3, 4, 5), **common)]


def contenders(shape):
    heads, _, queries, keys, _ = shape
    if queries <= 16:
        return of_decoding(shape)
    alone = heads * queries * keys <= 2 ** 28  # where our stages write the weights
    return [*(of_weights(shape, "float32") + of_weights(shape, "bfloat16") if alone else []),
            *of_attention(shape, "float32", False), *of_attention(shape, "bfloat16", False),
            *(of_attention(shape, "float32", True) + of_attention(shape, "bfloat16", True)
              if queries == keys else [])]
