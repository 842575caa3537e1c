"""What check_ops.py runs in the Python that has PyTorch: attention, against the formula in float64."""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect

import torch
import torch.nn.functional as F
import workbook_ops
from cases import DEVICES
from workbook_ops import kernels

TYPES = (torch.float32, torch.bfloat16)
UNIT, BFLOAT16 = 2.0**-24, 2.0**-8  # half an ulp of 1

# heads, key heads, queries, keys, d, behind the batches
SHAPES = [((), 1, 1, 1, 1, 1), ((), 2, 1, 3, 5, 3), ((2,), 2, 2, 65, 63, 64), ((2, 2), 6, 2, 33, 130, 40),
          ((3,), 4, 4, 70, 31, 128), ((), 2, 2, 129, 129, 72), ((), 3, 3, 1, 300, 64),
          ((2,), 4, 2, 5, 700, 96), ((2,), 4, 2, 70, 1001, 50), ((), 1, 1, 16, 1024, 17),
          ((), 2, 2, 17, 513, 8), ((2,), 2, 1, 0, 5, 8), ((0,), 2, 1, 4, 5, 8),
          ((), 2, 2, 4, 0, 8), ((), 2, 2, 4, 3, 0)]


def inputs_of(shape, dtype, device, scale=1.0):
    batches, heads, key_heads, queries, keys, d = shape
    generator = torch.Generator().manual_seed(queries + keys)
    sizes = ((heads, queries), (key_heads, keys), (key_heads, keys))
    q, k, v = (torch.randn((*batches, *size, d), generator=generator) for size in sizes)
    return [(scale * each).to(dtype).to(device) for each in (q, k)] + [v.to(dtype).to(device)]


def references(q, k, v, causal, scale):
    """In float64: the weights, the result, and the sum of the terms' absolute values of each."""
    q, k, v = (each.double().cpu() for each in (q, k, v))
    k, v = (each.repeat_interleave(q.shape[-3] // max(1, k.shape[-3]), -3) for each in (k, v))
    scores, terms = q @ k.mT * scale, q.abs() @ k.abs().mT * abs(scale)
    queries, keys = scores.shape[-2:]
    sees = torch.arange(keys) <= torch.arange(queries).unsqueeze(1) + (keys - queries if causal else keys)
    weights = torch.where(sees, scores, -math.inf).softmax(-1).nan_to_num(0.0)
    largest = terms.amax(-1, keepdim=True) if keys else terms.sum(-1, keepdim=True)
    return weights, weights @ v, largest * weights, largest * (weights @ v.abs())


def roundings(keys, d):
    """As in chapter 08: sums of d products, and over the keys, and what is rescaled."""
    return 6 * (math.sqrt(d) + 2 * math.sqrt(keys)) + 40


def fault(name, result, reference, magnitude, terms, count, dtype):
    """`magnitude` is what one rounding of a score can change, `terms` are those of the last sum."""
    if result.dtype != dtype or result.shape != reference.shape or not result.is_contiguous():
        return f"{name} is {result.dtype} {list(result.shape)}, wanted {dtype} {list(reference.shape)}\n"
    most = count * UNIT * (magnitude + terms) + 2.0**-126  # exp2 may give 0 for what is denormal
    if dtype == torch.bfloat16:
        most = most + 1.01 * BFLOAT16 * (terms + reference.abs())
    wrong = ~((result.double().cpu() - reference).abs() <= most)
    if not wrong.any():
        return ""
    i = tuple(wrong.nonzero()[0].tolist())
    return (f"{name}: {int(wrong.sum())} of {wrong.numel()} wrong; {list(i)} is {result[i].item():.9g}, "
            f"wanted {reference[i].item():.9g} within {most[i].item():.2g}\n")


def faults_of(shape, dtype, device, causal, scale=None, width=1.0):
    q, k, v = inputs_of(shape, dtype, device, width)
    used = scale if scale is not None else q.shape[-1] ** -0.5 if q.shape[-1] else 1.0
    weights, o, of_weights, of_o = references(q, k, v, causal, used)
    terms = references(q, k, v.abs(), causal, used)[1]
    count = roundings(*k.shape[-2:])
    found = fault("attention", workbook_ops.attention(q, k, v, causal, scale), o, of_o, terms, count, dtype)
    if k.shape[-2] <= 1024 and (dtype == torch.float32 or q.shape[-1] <= 64):
        p = workbook_ops.attention_scores(q, k, scale, causal)
        found += fault("attention_scores", p, weights, of_weights, weights, count, dtype)
    where = f"{shape} {dtype} {device} {'causal' if causal else 'full'}: "
    return where + found if found else ""


def check_values():
    runs = [(shape, dtype, device, causal) for shape in SHAPES for dtype in TYPES for device in DEVICES
            for causal in (False, True)]
    found = "".join(faults_of(*run) for run in runs)
    expect(f"attention: values of {len(runs)} shapes and types", not found, found)
    wide = [(((2,), 2, 2, 70, 300, 64), dtype, device, causal, scale, 4.0) for dtype in TYPES
            for device in DEVICES for causal in (False, True) for scale in (None, 0.7, 1e-3)]
    found = "".join(faults_of(*run) for run in wide)
    expect("attention: large scores, and other scales", not found, found)


def check_like_pytorch():
    """Strides, and what PyTorch's own function says of the same problem."""
    for dtype, device in ((dtype, device) for dtype in TYPES for device in DEVICES):
        q, k, v = inputs_of(((2,), 4, 4, 50, 50, 64), dtype, device)
        for causal in (False, True):
            theirs = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            near = torch.allclose(workbook_ops.attention(q, k, v, causal), theirs, rtol=2e-2, atol=2e-2)
            expect(f"attention, {dtype} {device}: as scaled_dot_product_attention, causal {causal}", near)
        turned = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in (q, k, v)]
        sliced = [torch.cat((each, each), -1)[..., :64] for each in (q, k, v)]
        offset = [torch.cat((each.view(-1)[:1], each.view(-1)))[1:].view(each.shape) for each in (q, k, v)]
        for name, inputs in (("transposed", turned), ("sliced", sliced), ("offset", offset)):
            same = torch.equal(workbook_ops.attention(*inputs), workbook_ops.attention(q, k, v))
            expect(f"attention, {dtype} {device}: {name} inputs", same)


def check_special_values():
    for dtype, device in ((dtype, device) for dtype in TYPES for device in DEVICES):
        q, k, v = (torch.zeros(1, 3, 8, dtype=dtype, device=device) for _ in range(3))
        v[0, :, 0] = torch.tensor([1.0, 2.0, 6.0])
        mean = workbook_ops.attention(q, k, v)[0, :, 0].tolist()
        running = workbook_ops.attention(q, k, v, True)[0, :, 0].tolist()
        right = mean == [3.0] * 3 and running == [1.0, 1.5, 3.0]
        expect(f"equal scores, {dtype} {device}: means of v", right, (mean, running))
        q[0, 1, 0] = k[0, 1, 0] = torch.nan
        weights = workbook_ops.attention_scores(q, k)
        expect(f"NaN, {dtype} {device}: in q and k reaches the weights", bool(weights[0, 1].isnan().all()))
        for keys in (3, 300):
            q, k, v = inputs_of(((), 1, 1, 3, keys, 64), dtype, device)
            k[0, 1, 0] = torch.nan
            results = workbook_ops.attention_scores(q, k), workbook_ops.attention(q, k, v)
            reached = all(bool(result.isnan().all()) for result in results)
            expect(f"NaN, {dtype} {device}: of {keys} keys, one reaches everything", reached)


def message(function):
    try:
        function()
    except (RuntimeError, NotImplementedError) as error:
        return str(error)
    return "nothing was raised"


def check_errors():
    q, k = torch.zeros(2, 4, 5, 8), torch.zeros(2, 2, 7, 8)
    wrong = {
        "attention: q must be float32, float16 or bfloat16, not ":
            lambda q, k: workbook_ops.attention(q.long(), k.long(), k.long()),
        "attention: q must be float32 or bfloat16, not ":
            lambda q, k: workbook_ops.attention(q.half(), k.half(), k.half()),
        "q and k must have the same type, but are ": lambda q, k: workbook_ops.attention(q, k.bfloat16(), k),
        "k and v must have the same shape, but are [2, 2, 7, 8] and [2, 2, 7, 4]":
            lambda q, k: workbook_ops.attention(q, k, k[..., :4]),
        "have the dimensions [..., heads, queries, d] and k [..., heads, keys, d], but are [5, 8] and ":
            lambda q, k: workbook_ops.attention(q[0, 0], k[0, 0], k[0, 0]),
        "heads, keys, d], but are [2, 4, 5, 8] and [1, 2, 7, 8]":
            lambda q, k: workbook_ops.attention_scores(q, k[:1]),
        "heads, keys, d], but are [2, 4, 5, 4] and [2, 2, 7, 8]":
            lambda q, k: workbook_ops.attention_scores(q[..., :4], k),
        "the heads of q must be a multiple of those of k, but are 3 and 2":
            lambda q, k: workbook_ops.attention(q[:, :3], k, k),
        "attention: scale must be positive, not -0.5":
            lambda q, k: workbook_ops.attention(q, k, k, scale=-0.5),
        "attention: d is 129; 128 is the most":
            lambda q, k: workbook_ops.attention(*(q.new_zeros(1, 2, 129) for _ in range(3))),
        "attention_scores: d is 65; 64 is the most":
            lambda q, k: workbook_ops.attention_scores(*(q.new_zeros(1, 2, 65).bfloat16() for _ in range(2))),
        "attention_scores: there are 1025 keys; 1024 is the most":
            lambda q, k: workbook_ops.attention_scores(q[:1, :1], k.new_zeros(1, 1, 1025, 8)),
    }
    for text, function in wrong.items():
        for device in (*DEVICES, "meta"):
            said = message(lambda: function(q.to(device), k.to(device)))
            expect(f"refused on {device}: {text}", text in said, said)
    said = message(lambda: workbook_ops.attention(q.requires_grad_(), k, k))
    refused = "its gradient is not implemented: call it under torch.no_grad()" in said
    expect("a gradient is refused", refused, said)
    with torch.no_grad():
        expect("and not where none is wanted", workbook_ops.attention(q, k, k).shape == q.shape)


def check_compiled():
    q, k, v = inputs_of(((2,), 4, 2, 5, 7, 8), torch.float32, DEVICES[-1])
    torch.library.opcheck(kernels.attention, (q, k, v, 0.3, True))  # raises
    torch.library.opcheck(kernels.attention_scores, (q, k, 0.3, True))
    for operator, inputs in ((workbook_ops.attention, (q, k, v)), (workbook_ops.attention_scores, (q, k))):
        compiled = torch.compile(operator, fullgraph=True, backend="aot_eager")
        same = torch.equal(compiled(*inputs), operator(*inputs))
        expect(f"{operator.__name__}: compiled in full", same)


def check_gpu():
    q, k, v = inputs_of(((2,), 8, 8, 512, 512, 64), torch.bfloat16, "cuda")
    wanted = workbook_ops.attention(q, k, v)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(10_000_000)
        late = torch.zeros_like(q).copy_(q)
        result = workbook_ops.attention(late, k, v)  # on another stream it would read q before it is copied
    side.synchronize()
    expect("attention runs on the current stream", torch.equal(result, wanted))
    one = q[..., :1, :].contiguous()  # split over the keys, with scratch memory
    for queries in (q, one):
        workbook_ops.attention(queries, k, v)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = workbook_ops.attention(queries, k, v)
        queries.normal_()
        graph.replay()
        expect("attention in a CUDA graph", torch.equal(captured, workbook_ops.attention(queries, k, v)))


def main():
    check_values()
    check_like_pytorch()
    check_special_values()
    check_errors()
    if workbook_ops.CUDA_AVAILABLE:
        check_gpu()
    check_compiled()


if __name__ == "__main__":
    main()
