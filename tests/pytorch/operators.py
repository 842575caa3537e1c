"""What check_ops.py runs in the Python that has PyTorch: the operators of workbook_ops, on the CPU and, where
there is one, on a GPU."""

import ctypes
import math
import os
import pathlib
import subprocess
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect

import numpy as np
import torch
import torch._inductor.config
import torch.nn.functional as F
import workbook_ops
from cases import (CASES, DEVICES, SHORT_TYPES, SMALLEST, TYPES, UNIT, call, inputs_of, kept, mean_abs_case,
                   slope, slope_bound, sum_of_squares_case)
from torch._subclasses import FakeTensorMode
from workbook_ops import kernels, operators

SHAPES = [*((n,) for n in (0, 1, 2, 3, 5, 31, 33, 127, 257, 1023)),
          (0, 3), (3, 0), (7, 33), (33, 7), (513, 3)]
LARGE = (129, 1025)  # several threads, and several parts of the column sums
LONG_ROWS = [(3, 4100), (2, 20_004), (1, 70_001)]  # each has another kernel on a GPU
# For the kernel that reads a row once in the backward pass: it has 8, 16 or 32 lanes or a block, and a thread
# has 16 elements of it, or 32 in the three large arrays. (5, 9000) is too long for it.
ALIGNED_ROWS = [(37, 72), (70, 256), (41, 1000), (9, 8184), (8500, 264), (2201, 1000), (300, 8192),
                (5, 9000)]
LAYOUTS = {
    "transposed": ((7, 33), lambda t: t.t().contiguous().t()),
    "channels last": ((2, 5, 4, 6), lambda t: t.contiguous(memory_format=torch.channels_last)),
    "sliced": ((9, 14), lambda t: torch.cat((t, t), 1)[:, ::2].copy_(t)),
    "not at a multiple of 16 bytes":
        ((9, 14), lambda t: torch.cat((t.view(-1)[:1], t.view(-1)))[1:].view(9, 14)),
    "expanded": ((9, 14), lambda t: t[:1].expand(9, 14)),
    "a number": ((), lambda t: t),
}


# --- Values and gradients ---


def fault(name, value, reference, bound, dtype):
    """Says how a result is wrong; empty if it is right."""
    if value.dtype != dtype or value.shape != reference.shape:
        wanted = f"{dtype} {list(reference.shape)}"
        return f"{name} is {value.dtype} {list(value.shape)}, wanted {wanted}\n"
    error, most = (value.double() - reference).abs(), bound.of(dtype, reference)
    wrong = ~(error <= most) & ~(value.isnan() & reference.isnan())  # any other NaN is wrong
    if not wrong.any():
        return ""
    i = tuple(wrong.nonzero()[0].tolist())
    return (f"{name}: {int(wrong.sum())} of {wrong.numel()} wrong; {list(i)} is {value[i].item():.9g}, "
            f"wanted {reference[i].item():.9g} within {most[i].item():.2g}\n")


def identical(a, b):
    return torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


def gradients_of(case, inputs, function=None):
    """The results and the gradients of the inputs, from random gradients of the results."""
    results = call(function or case.call, inputs)
    generator = torch.Generator().manual_seed(9)
    grads = [torch.randn(t.shape, generator=generator).to(inputs[0].dtype).to(t) for t in results]
    return results, torch.autograd.grad(results, inputs, grads), grads


def faults_of(case, shape, dtype, device, layout=lambda t: t):
    inputs = inputs_of(case, shape, dtype, device, layout)
    exact = [t.detach().double().requires_grad_() for t in inputs]
    bare = [t.detach() for t in exact]
    references = call(case.reference(dtype) if case.reference else case.eager, exact)
    results, gradients, grads = gradients_of(case, inputs)
    grads = [t.double() for t in grads]
    wanted = torch.autograd.grad(references, exact, grads)
    found, bounds = "", case.forward(*bare)
    bounds = bounds if isinstance(bounds, tuple) else (bounds,)
    pytorchs = call(case.eager, inputs)
    for i, (result, reference, bound, eager) in enumerate(zip(results, references, bounds, pytorchs)):
        found += fault(f"result {i}", result, reference.detach(), bound, dtype)
        if result.stride() != eager.stride():
            found += f"strides of result {i} are {result.stride()}, PyTorch's {eager.stride()}\n"
    with torch.no_grad():
        if not all(map(identical, call(case.call, inputs), results)):
            found += "without a gradient, the result is another one\n"
    for i, (value, each, bound) in enumerate(zip(gradients, wanted, case.backward(*grads, *bare))):
        found += fault(f"gradient {i}", value, each, bound, dtype)
    where = f"{case.name} {list(shape)} {dtype} {device}: "
    return where + found if found else ""


def check_values():
    for case in CASES:
        runs = [(shape, dtype, device)
                for shape in [*SHAPES, LARGE] for dtype in case.types for device in DEVICES]
        found = "".join(faults_of(case, *run) for run in runs)
        expect(f"{case.name}: values and gradients, {len(runs)} shapes and types", not found, found)


def check_layouts():
    for name, (shape, layout) in LAYOUTS.items():
        found = "".join(faults_of(case, shape, dtype, device, layout)
                        for case in CASES if shape or not case.rows
                        for dtype in case.types for device in DEVICES)
        expect(f"inputs: {name}", not found, found)
    a = torch.randn(6, 4).t()
    for first, second in ((a, a.contiguous()), (a.contiguous(), a)):
        same = workbook_ops.add_relu(first, second).stride() == (first + second).stride()
        expect(f"strides {first.stride()} and {second.stride()} give PyTorch's", same)


def special_faults(case, inputs, dtype):
    """Where a result differs from PyTorch's: (inputs, ours, theirs), three at most."""
    ours = case.call(*inputs).double()
    exact = case.eager(*(t.double() for t in inputs)).to(dtype).double()
    # A sum or product that overflows in float32 is infinite, although the exact result need not be. On some
    # processors gelu(inf) of PyTorch is NaN, and up to 2.11 gelu(-inf) is, where the limit is 0
    # (pytorch#185770).
    if case.name.startswith(("gelu", "bias_gelu")):
        exact = torch.where((inputs[0] + sum(inputs[1:])).double() == -torch.inf, 0.0, exact)
    theirs = case.eager(*(t.float() if dtype.itemsize == 2 else t for t in inputs)).to(dtype).double()
    same = (ours == theirs) | (ours == exact) | (ours.isnan() & theirs.isnan())
    near = (ours - exact).abs() <= 2e-2 * exact.abs() + 1e-6
    wrong = (~(same | near)).nonzero().view(-1).tolist()[:3]
    return [([t[i].item() for t in inputs], ours[i].item(), theirs[i].item()) for i in wrong]


def check_special_values():
    values = torch.tensor([0.0, -0.0, 1e-40, -1e-40, 1.0, -7.0, 40.0, -40.0, 200.0, -200.0, 3e38, -3e38,
                           float("inf"), float("-inf"), float("nan")])
    first, second = torch.cartesian_prod(values, values).unbind(1)
    for case in (case for case in CASES if case.elementwise):
        for dtype in TYPES:
            for device in DEVICES:
                inputs = [t.to(dtype).to(device) for t in (first, second, first.roll(7))]
                found = special_faults(case, inputs[:case.inputs + case.rows], dtype)
                if found:
                    expect(f"{case.name}: special values, {dtype}, {device}", False, found)
        expect(f"{case.name}: infinities, NaN, large and denormal numbers", True)


def same_bits(a, b):
    """NaNs are alike, zeros with different signs are not."""
    return bool(((a.view(torch.int16) == b.view(torch.int16)) | (a.isnan() & b.isnan())).all())


def check_tables():
    """On the CPU, GELU of 16-bit elements is looked up. A GPU computes it."""
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.arange(1 << 16).to(torch.int16).view(dtype)
        grad = torch.randn(x.shape).to(dtype)
        for approximate in ("none", "tanh"):
            (y, dx), (wide_y, wide_dx) = [
                (result.detach(), torch.autograd.grad(result, leaf, weights)[0])
                for leaf, weights in ((x.clone().requires_grad_(), grad),
                                      (x.float().requires_grad_(), grad.float()))
                for result in [workbook_ops.gelu(leaf, approximate)]]
            same = same_bits(y, wide_y.to(dtype)) and same_bits(dx, wide_dx.to(dtype))
            expect(f"gelu, {approximate}: of every {dtype}, that in float32, rounded", same)


def check_same_everywhere():
    for case in CASES:
        inputs = inputs_of(case, LARGE, torch.float32, "cpu")
        results = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            values, gradients, _ = gradients_of(case, inputs)
            results.append((*values, *gradients))
        torch.set_num_threads(1)
        same = all(map(torch.equal, *results))
        expect(f"{case.name}: the same with one thread and with two", same)
        if not case.same_alone:
            continue
        with torch.no_grad():
            for dtype, device in ((dtype, device) for dtype in case.types for device in DEVICES):
                whole = [t.to(dtype).to(device) for t in inputs]
                rows = [t[3:20, :] if t.dim() == 2 else t for t in whole]
                if not torch.equal(call(case.call, whole)[0][3:20, :], call(case.call, rows)[0]):
                    expect(f"{case.name}: rows have the same result by themselves", False, (dtype, device))
        expect(f"{case.name}: rows have the same result by themselves", True)


def check_dropout():
    """The mask of gelu_dropout, and probabilities at which nothing is random."""
    x = torch.randn(1000)
    for p, training in ((0, True), (1, True), (0.4, False), (0, False)):
        for approximate in ("none", "tanh"):
            for dtype in SHORT_TYPES:
                each = x.to(dtype).requires_grad_()
                results = [(y, torch.autograd.grad(y.sum(), each)[0]) for y in (
                    workbook_ops.gelu_dropout(each, p, training, approximate),
                    F.dropout(workbook_ops.gelu(each, approximate), p, training))]
                same = all(map(torch.equal, *results))
                expect(f"dropout, p {p}, training {training}, {dtype}, {approximate}: as PyTorch's", same)
    n, seed = 1 << 20, torch.tensor(2**61 + 12345)
    for device in DEVICES:
        for dtype in SHORT_TYPES:
            for p in (0.1, 0.5):
                y = kernels.gelu_dropout(torch.ones(n, dtype=dtype, device=device), seed.to(device), p)
                mask = (y != 0).cpu()
                same = torch.equal(mask, kept(n, seed.item(), p, dtype))
                expect(f"dropout, {dtype} {device}: {p} of a seed's numbers by NumPy are dropped", same)
                # Of numbers that are independent, five standard deviations happen once in a million times.
                deviation = (p * (1 - p) / n) ** 0.5
                for apart in (1, 4, 8, 128, 256):
                    both = (mask[:-apart] & mask[apart:]).double().mean().item()
                    usual = abs(both - (1 - p) ** 2) < 5 * deviation
                    expect(f"  elements {apart} apart are dropped independently", usual, both)
    if workbook_ops.CUDA_AVAILABLE:
        check_large_dropout(seed)
    torch.manual_seed(1)
    first, second = (workbook_ops.gelu_dropout(x) for _ in range(2))
    torch.manual_seed(1)
    again = workbook_ops.gelu_dropout(x)
    expect("dropout repeats under manual_seed, and else differs",
           torch.equal(first, again) and not torch.equal(first, second))


def check_large_dropout(seed):
    """Where a GPU looks GELU up in a table: every bfloat16, and a vector that the array does not fill."""
    n, p, dtype = (1 << 23) + 5, 0.1, torch.bfloat16
    x = torch.arange(n, device="cuda").to(torch.int16).view(dtype)
    y = kernels.gelu_dropout(x, seed.cuda(), p)
    dx = kernels.gelu_dropout_backward(torch.ones_like(x), x, seed.cuda(), p)
    exact = x.double().cpu().requires_grad_()
    F.gelu(exact).sum().backward()
    mask = kept(n, seed.item(), p, dtype)
    for name, ours, theirs in (("gelu_dropout", y, F.gelu(exact.detach())), ("its gradient", dx, exact.grad)):
        wanted = torch.where(mask, theirs / (1 - p), 0.0)
        compared = exact.detach().isfinite() & (wanted.abs() < torch.finfo(dtype).max)
        near = torch.allclose(ours.double().cpu()[compared], wanted[compared], rtol=1.01 * 2**-8, atol=2e-7)
        expect(f"{name}: 2^23 + 5 elements in bfloat16, on a GPU", near)


def check_aligned_rows():
    for case in (case for case in CASES if "norm" in case.name):
        found = "".join(faults_of(case, shape, dtype, "cuda") for shape in ALIGNED_ROWS
                        for dtype in SHORT_TYPES)
        expect(f"{case.name}: aligned rows", not found, found)


def check_norms():
    """Long rows, two normalised dimensions, the default eps, and gradients of one result alone."""
    for case in (case for case in CASES if "norm" in case.name):
        found = "".join(faults_of(case, shape, dtype, device) for shape in LONG_ROWS for dtype in SHORT_TYPES
                        for device in DEVICES)
        expect(f"{case.name}: long rows", not found, found)
    x, weight, bias = torch.randn(3, 4, 5), torch.randn(4, 5), torch.randn(4, 5)
    flat = [t.reshape(-1, 20) if t is x else t.reshape(20) for t in (x, weight, bias)]
    for operator in (workbook_ops.layer_norm_relu, workbook_ops.relu_layer_norm):
        same = torch.equal(operator(x, (4, 5), weight, bias).view(-1, 20), operator(flat[0], 20, *flat[1:]))
        expect(f"{operator.__name__}: two normalised dimensions", same)
    residual, small = torch.randn(3, 4, 5), 1e-3 * x
    near = torch.allclose(workbook_ops.layer_norm_relu(small, (4, 5), weight, bias),
                          F.relu(F.layer_norm(small, (4, 5), weight, bias)), rtol=1e-4, atol=1e-5)
    expect("the default eps is PyTorch's", near)
    leaves = [t.clone().requires_grad_() for t in (x, residual, weight)]
    for used in (0, 1):
        total = leaves[0] + leaves[1]
        results = (workbook_ops.residual_rms_norm(*leaves)[used],
                   (F.rms_norm(total, (4, 5), leaves[2], 1e-5), total)[used])
        ours, theirs = (torch.autograd.grad(each.sum(), leaves, allow_unused=True) for each in results)
        near = all(a is b or torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(ours, theirs))
        expect(f"residual_rms_norm: the gradient of result {used} alone", near)


def check_reductions():
    """Dimensions between others, long lines, and elements at which a slope is special."""
    shapes = [(3, 5, 7), (2, 33, 4), (5, 2, 40), (2, 3, 4, 5), (2, 0, 3), (0, 2, 3), (2, 257, 8),
              (300, 9, 24), (700, 1, 3)]
    long = [*((shape, -1) for shape in LONG_ROWS), ((20_004, 2), 0), ((5000, 40), 0), ((20_004, 6, 2), 0),
            ((40_001,), 0), ((3, 3001, 9), 1), ((2000, 1), 1)]
    runs = [(reduction(dim), shape, dtype, device) for reduction in (sum_of_squares_case, mean_abs_case)
            for shape, dim in [*((shape, dim) for shape in shapes for dim in (1, -2)), *long]
            for dtype in TYPES for device in DEVICES]
    found = "".join(faults_of(*run) for run in runs)
    expect(f"reductions: {len(runs)} dimensions between others and long lines", not found, found)
    for reduction, dtype in ((case(dim), dtype) for case in (sum_of_squares_case, mean_abs_case)
                             for dim in range(3) for dtype in (torch.float32, torch.bfloat16)):
        inputs, results = inputs_of(reduction, (301, 9, 25), dtype, "cpu"), []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results += gradients_of(reduction, inputs)[:2]
        torch.set_num_threads(1)
        same = all(torch.equal(*pair) for pair in zip(results[0] + results[1], results[2] + results[3]))
        expect(f"{reduction.name}, {dtype}: the same with two threads, between other dimensions", same)
    x = torch.randn(6, 4).t()
    for backward in (kernels.sum_of_squares_backward, kernels.mean_abs_backward):
        strides = backward(x.sum(0), x, 0).stride()
        expect(f"{backward}: the gradient has the strides of x", strides == x.stride(), strides)
    values = torch.tensor([0.0, -0.0, 1e-40, -3.0, float("inf"), float("-inf"), float("nan")])
    for reduction in (sum_of_squares_case(0), mean_abs_case(0)):
        for dtype, device in ((dtype, device) for dtype in TYPES for device in DEVICES):
            x = values.to(dtype).to(device).requires_grad_()
            ours, theirs = (torch.autograd.grad(function(x), x)[0].double()
                            for function in (reduction.call, reduction.eager))
            same = torch.allclose(ours, theirs, rtol=1e-2, atol=0, equal_nan=True)
            alone = [torch.equal(reduction.call(v), reduction.eager(v)) for v in x.detach()[:6]]
            expect(f"{reduction.name}: special values, {dtype}", same and all(alone), (ours, theirs, alone))


# --- Linear and GELU ---


def linear_bounds(x, weight, bias, grad, tanh, dtype):
    """Result and gradients in float64, each with its largest error. x and grad are matrices. A product is
    rounded to the type before bias and GELU; GELU's slope is at most 1.13, and changes by 0.8 at most."""
    approximate = "tanh" if tanh else "none"
    u, r = UNIT[torch.float32], UNIT[dtype]
    product, terms = x @ weight.T, x.abs() @ weight.abs().T
    sums = product + bias
    of_sums = 1.01 * ((x.shape[1] + 3) * u * (terms + bias.abs()) + r * product.abs())
    y = F.gelu(sums, approximate=approximate)
    d, of_slope = grad * slope(sums, tanh), slope_bound(grad, sums, tanh)
    of_d = 0.8 * grad.abs() * of_sums + of_slope.roundings * u * of_slope.magnitude
    of_sum = (len(x) + 3) * u * d.abs().sum(0) + of_d.sum(0)
    of_d = of_d + r * d.abs()
    wanted = (y, d @ weight, d.T @ x, d.sum(0))
    errors = (1.13 * of_sums + 10 * u * sums.abs(),
              of_d @ weight.abs() + (d.shape[1] + 3) * u * (d.abs() @ weight.abs()),
              of_d.T @ x.abs() + (len(x) + 3) * u * (d.abs().T @ x.abs()), of_sum)
    return [(value, 1.01 * (error + r * value.abs()) + SMALLEST[dtype])
            for value, error in zip(wanted, errors)]


def without_gradient(bound, sums, tanh, dtype):
    """The result's bound where no gradient is wanted and PyTorch's own kernels compute it. Its GELU is given
    rounded sums. The tanh of cuBLASLt may be one instruction with an error of 2^-11, which is multiplied by
    v / 2; below v = -4 it is -1."""
    wanted, most = bound
    return wanted, most + 1.15 * UNIT[dtype] * sums.abs() + 2**-12 * (wanted.abs() + 4) * tanh


def linear_inputs(shape, inputs, outputs, dtype, device):
    generator = torch.Generator().manual_seed(sum(shape) + inputs + outputs)
    shapes = ((*shape, inputs), (outputs, inputs), (outputs,), (*shape, outputs))
    scales = (1, max(1, inputs) ** -0.5, 1, 1)
    return [(torch.randn(each, generator=generator) * scale).to(dtype).to(device)
            for each, scale in zip(shapes, scales)]


def linear_faults(inputs, tanh, backend):
    *inputs, grad = inputs
    leaves = [each.detach().requires_grad_() for each in inputs]
    y = workbook_ops.linear_gelu(*leaves, "tanh" if tanh else "none", backend)
    gradients = torch.autograd.grad(y, leaves, grad)
    with torch.no_grad():
        bare = workbook_ops.linear_gelu(*leaves, "tanh" if tanh else "none", backend)
    x, weight, bias = (each.detach().double() for each in inputs)
    rows = x.shape[:-1].numel()
    bounds = linear_bounds(x.reshape(rows, x.shape[-1]), weight, bias,
                           grad.double().reshape(rows, len(bias)), tanh, y.dtype)
    where = f"{list(x.shape)} {list(weight.shape)} {y.dtype} {y.device} {backend} tanh {tanh}"
    if y.stride() != F.linear(*inputs).stride() or bare.stride() != y.stride():
        yield f"{where}: strides"
    if y.is_cpu and not torch.equal(y, bare):
        yield f"{where}: without a gradient"
    if y.is_cuda:  # it may be another kernel
        bounds.append(bounds[0] if backend == "custom" else without_gradient(
            bounds[0], F.linear(x, weight, bias).view(bounds[0][0].shape), tanh, y.dtype))
    for i, (value, (wanted, most)) in enumerate(zip((y, *gradients, bare), bounds)):
        wrong = (value.double() - wanted.view(value.shape)).abs() > most.view(value.shape)
        if wrong.any() or value.dtype != y.dtype or value.isnan().any():
            yield f"{where}: {int(wrong.sum())} of {wrong.numel()} wrong of value {i}"


LINEAR_SHAPES = [((1,), 1, 1), ((2,), 3, 5), ((33,), 7, 9), ((), 5, 4), ((2, 3), 8, 16), ((2, 3, 4), 6, 2),
                 ((129,), 65, 131), ((128,), 64, 128), ((0,), 3, 5), ((3,), 0, 5), ((3,), 5, 0),
                 ((2, 0), 3, 4)]


def check_linear():
    found, matmul = [], torch.backends.cuda.matmul  # sums of 16-bit products shall not be rounded on the way
    matmul.allow_fp16_reduced_precision_reduction = matmul.allow_bf16_reduced_precision_reduction = False
    for backend in ("auto", "cublas", "custom"):
        types = (torch.float32, torch.bfloat16) if backend == "custom" else (*SHORT_TYPES, torch.float64)
        runs = [(shape, dtype, device, tanh) for shape in LINEAR_SHAPES for dtype in types
                for device in DEVICES for tanh in (False, True)]
        for shape, dtype, device, tanh in runs:
            found += linear_faults(linear_inputs(*shape, dtype, device), tanh, backend)
        for dtype, device in ((dtype, device) for dtype in types for device in DEVICES):
            x, weight, bias, grad = linear_inputs((9,), 14, 6, dtype, device)
            turned = (x.t().contiguous().t(), weight.t().contiguous().t())
            found += linear_faults((*turned, bias[:1].expand(6), grad[:1].expand(9, 6)), True, backend)
            shifted = torch.cat((x.view(-1)[:1], x.view(-1)))[1:].view(9, 14)
            found += linear_faults((shifted, weight, bias, grad), True, backend)
        expect(f"linear_gelu, {backend}: {len(runs)} shapes and types", not found, found[:5])
    x, weight, bias, _ = (each.requires_grad_() for each in linear_inputs((4,), 3, 5, torch.float32, "cpu"))
    for backend in ("auto", "custom"):
        y = workbook_ops.linear_gelu(x, weight.detach(), bias.detach(), "none", backend)
        alone, = torch.autograd.grad(y.sum(), x)
        full = torch.autograd.grad(workbook_ops.linear_gelu(x, weight, bias, "none", backend).sum(), x)[0]
        expect(f"linear_gelu, {backend}: the gradient of x alone", torch.equal(alone, full))
        without, zeros = (workbook_ops.linear_gelu(x, weight, no_bias, backend=backend)
                          for no_bias in (None, torch.zeros(5)))
        gradients = [torch.autograd.grad(y.sum(), (x, weight)) for y in (without, zeros)]
        expect(f"linear_gelu, {backend}: without a bias",
               all(map(torch.equal, (without, *gradients[0]), (zeros, *gradients[1]))))
        same = second_derivatives(lambda *inputs: workbook_ops.linear_gelu(*inputs, "none", backend),
                                  lambda *inputs: F.gelu(F.linear(*inputs)), (x, weight, bias))
        expect(f"linear_gelu, {backend}: second derivatives", same)
        with torch.autocast("cpu", torch.bfloat16):
            y = workbook_ops.linear_gelu(x, weight, bias, "none", backend)
            gradients = torch.autograd.grad(y.sum(), (x, weight, bias))
        types = (y.dtype, *(each.dtype for each in gradients))
        expect(f"linear_gelu, {backend}: autocast", types == (torch.bfloat16, *[torch.float32] * 3), types)
    gradients = []
    for in_autocast in (False, True):
        y = workbook_ops.linear_gelu(x, weight, bias, backend="custom")
        with torch.autocast("cpu", torch.bfloat16, enabled=in_autocast):
            gradients.append(torch.autograd.grad(y.sum(), (x, weight, bias)))
    expect("linear_gelu, custom: a backward pass under autocast", all(map(torch.equal, *gradients)))


# Rows, inputs and outputs, and whether they suit the kernels for compute capability 9.0. In the last two,
# each block has several tiles, of 09_ping_pong and of 09_wide.
GPU_SHAPES = [((1,), 8, 8, True), ((2, 150), 72, 200, True), ((300,), 72, 100, False),
              ((300,), 100, 72, False), ((5000,), 136, 2056, True), ((4300,), 1032, 12008, True)]


def check_linear_on_gpu():
    found, hopper = [], torch.cuda.get_device_capability() == (9, 0)
    for *shape, suits in GPU_SHAPES:
        inputs = linear_inputs(*shape, torch.bfloat16, "cuda")
        if operators._suits_hopper(*inputs[:2]) != (suits and hopper):
            found.append(f"{shape}: the choice of kernel")
        for tanh in (False, True):
            for backend in ("auto", "custom"):
                found += linear_faults(inputs, tanh, backend)
    expect("linear_gelu: tiles of every size", not found, found[:5])
    x, weight, bias, grad = linear_inputs((9,), 16, 24, torch.bfloat16, "cuda")
    shifted = torch.cat((x.view(-1)[:1], x.view(-1)))[1:].view(9, 16)
    found = [*linear_faults((shifted, weight, bias, grad), True, "custom")]
    expect("linear_gelu: x is not at a multiple of 16 bytes", not found, found)


def check_linear_streams():
    """The kernels of linear_gelu run on the current stream and can be captured in a CUDA graph."""
    x, weight, bias, _ = linear_inputs((512,), 1024, 2048, torch.bfloat16, "cuda")
    side = torch.cuda.Stream()
    for backend, approximate in (("custom", "none"), ("custom", "tanh"), ("cublas", "tanh")):
        def linear(x):
            return workbook_ops.linear_gelu(x, weight, bias, approximate, backend)

        wanted = linear(x)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(10_000_000)
            result = linear(torch.zeros_like(x).copy_(x))
        side.synchronize()
        same = torch.allclose(result, wanted, rtol=1e-2, atol=1e-2)
        expect(f"linear_gelu, {backend}, {approximate}: on a side stream", same)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = linear(x)
        x.normal_()
        graph.replay()
        same = torch.allclose(result, linear(x), rtol=1e-2, atol=1e-2)
        expect(f"linear_gelu, {backend}, {approximate}: in a CUDA graph", same)


MODULES = [
    (lambda: workbook_ops.LinearGELU(6, 4, "tanh"), lambda: torch.nn.Linear(6, 4),
     lambda module, x: F.gelu(module(x), approximate="tanh")),
    (lambda: workbook_ops.LinearGELU(6, 4, backend="custom"), lambda: torch.nn.Linear(6, 4),
     lambda module, x: F.gelu(module(x))),
    (lambda: workbook_ops.LayerNormReLU(6, 0.1), lambda: torch.nn.LayerNorm(6, 0.1),
     lambda module, x: F.relu(module(x))),
    (lambda: workbook_ops.LayerNormReLU(6, 0.1, bias=False), lambda: torch.nn.LayerNorm(6, 0.1, bias=False),
     lambda module, x: F.relu(module(x))),
    (lambda: workbook_ops.ReLULayerNorm(6, 0.1, False), lambda: torch.nn.LayerNorm(6, 0.1, False),
     lambda module, x: module(F.relu(x))),
    (lambda: workbook_ops.ReLULayerNorm((3, 6), 0.1), lambda: torch.nn.LayerNorm((3, 6), 0.1),
     lambda module, x: module(F.relu(x))),
    (lambda: workbook_ops.ResidualRMSNorm(6, 0.1), lambda: torch.nn.RMSNorm(6, 0.1),
     lambda module, x: module(x + x)),
    (lambda: workbook_ops.GELUDropout(1.0), lambda: torch.nn.Dropout(1.0),
     lambda module, x: module(F.gelu(x))),
]


def check_modules():
    x = torch.randn(2, 3, 6)
    for ours, theirs, combined in MODULES:
        torch.manual_seed(2)
        mine = ours()
        torch.manual_seed(2)
        other = theirs()
        same = ([*mine.state_dict()] == [*other.state_dict()]
                and all(map(torch.equal, mine.state_dict().values(), other.state_dict().values())))
        for parameter in other.parameters():
            torch.nn.init.normal_(parameter)
        mine.load_state_dict(other.state_dict())
        name, near = type(mine).__name__, True
        for training in (True, False):
            mine.train(training), other.train(training)
            results = mine(x, x)[0] if name == "ResidualRMSNorm" else mine(x)
            near = near and torch.allclose(results, combined(other, x), rtol=1e-4, atol=1e-5)
        expect(f"{name}: as PyTorch's modules, from the same parameters, {mine}", same and near)


# --- Quantisation ---


def special_numbers(dtype):
    """Every pair's sum of some numbers at which rounding, clamping or a division is special, in that type."""
    numbers = torch.tensor([0.0, 1e-45, 1e-40, 3e-39, 1e-20, 0.125, 0.375, 0.5, 1.5, 2.5, 6.35, 31.75, 32.0,
                            127.5, 128.5, 1e10, 1e38, 3e38, float("inf"), float("nan")])
    numbers = torch.cat((numbers, -numbers))
    return (numbers.view(-1, 1) + numbers.view(1, -1)).to(dtype)


def in_steps(x, scale, zero_point):
    """Quantised in float32 by NumPy, whose division is a true one; `scale` may be an array."""
    with np.errstate(all="ignore"):
        steps = np.rint(x.float().cpu().numpy() / np.float32(scale) + np.float32(zero_point))
    return torch.from_numpy(np.asarray(np.clip(np.nan_to_num(steps, nan=0), -128, 127), np.int8))


def in_row_steps(x):
    values = np.abs(x.float().cpu().numpy())
    largest = np.max(np.where(np.isnan(values), 0, values), axis=-1, initial=0)
    scales = np.where(largest > 0, largest / np.float32(127), np.float32(1))
    return in_steps(x, scales[..., None], 0), torch.from_numpy(np.asarray(scales))


def quantisation_inputs(dtype, device):
    yield special_numbers(dtype).to(device)
    for shape in (*SHAPES, LARGE, (2, 5, 4, 6), *LONG_ROWS):
        yield (8 * torch.randn(shape)).to(dtype).to(device)
    for shape, layout in LAYOUTS.values():
        yield layout((8 * torch.randn(shape)).to(dtype).to(device))


def same_tensor(ours, wanted, strides):
    return torch.equal(ours.cpu(), wanted) and ours.dtype == wanted.dtype and ours.stride() == strides


def quantisation_faults(x):
    scales = (0.05, 0.25, 1.0, 1.4e-45, 1e-40, 1e-20, 3e38)
    strides = torch.empty_like(x).stride()
    for scale, zero_point in ((scale, zero_point) for scale in scales for zero_point in (0, 127.0, -7.5)):
        if not same_tensor(workbook_ops.quantize_int8(x, scale, zero_point),
                           in_steps(x, scale, zero_point), strides):
            yield f"{list(x.shape)} {x.dtype} {x.device}, scale {scale}, zero point {zero_point}"
    if x.dim() == 0:
        return
    (q, scales), (wanted, wanted_scales) = workbook_ops.quantize_rows(x), in_row_steps(x)
    contiguous = torch.empty(scales.shape).stride()
    if not (same_tensor(q, wanted, strides) and same_tensor(scales, wanted_scales, contiguous)):
        yield f"{list(x.shape)} {x.dtype} {x.device}, by rows"


def quantised(x):
    return workbook_ops.quantize_int8(x, 0.05, 3), *workbook_ops.quantize_rows(x)


def check_quantisation():
    torch.manual_seed(3)
    inputs = [x for dtype in SHORT_TYPES for device in DEVICES for x in quantisation_inputs(dtype, device)]
    found = [each for x in inputs for each in quantisation_faults(x)]
    expect(f"quantisation: {len(inputs)} arrays to the last bit", not found, found[:5])
    x = torch.randn(LARGE, requires_grad=True)
    results = quantised(x)
    expect("quantisation has no gradient", not any(each.requires_grad for each in results))
    torch.set_num_threads(2)
    again = quantised(x)
    torch.set_num_threads(1)
    expect("quantisation: the same with two threads", all(map(torch.equal, results, again)))


def check_compiled_linear():
    x, weight, bias, grad = linear_inputs((5,), 7, 3, torch.float32, DEVICES[-1])
    leaves = [each.requires_grad_() for each in (x, weight, bias)]
    for backend in ("auto", "custom"):
        torch._dynamo.reset()
        compiled = torch.compile(workbook_ops.linear_gelu, fullgraph=True, backend="aot_eager")
        results = [(y, *torch.autograd.grad(y, leaves, grad)) for y in (
            function(*leaves, "tanh", backend) for function in (compiled, workbook_ops.linear_gelu))]
        expect(f"linear_gelu, {backend}: compiled in full", all(map(torch.equal, *results)))
        with torch.autocast("cpu", torch.bfloat16):
            same = torch.equal(compiled(x.cpu(), weight.cpu(), bias.cpu(), "tanh", backend),
                               workbook_ops.linear_gelu(x.cpu(), weight.cpu(), bias.cpu(), "tanh", backend))
        expect(f"linear_gelu, {backend}: compiled under autocast", same)
    inputs = linear_inputs((2, 5), 16, 8, torch.bfloat16, DEVICES[-1])[:3]
    for approximate in ("none", "tanh"):
        same = torch.equal(compiled(*inputs, approximate), workbook_ops.linear_gelu(*inputs, approximate))
        expect(f"linear_gelu, {approximate}: compiled, without a gradient", same)


def check_compiled_quantisation():
    torch._dynamo.reset()
    compiled = torch.compile(quantised, fullgraph=True, backend="aot_eager")
    for shape in ((5, 7), (33, 2)):
        x = torch.randn(shape, requires_grad=True, device=DEVICES[-1])
        expect(f"quantisation: compiled in full, {shape}", all(map(torch.equal, compiled(x), quantised(x))))


# --- PyTorch's own checks, and compiling ---


def samples():
    """Each bare operator with arguments."""
    for device in DEVICES:
        for dtype in (torch.float32, torch.bfloat16):
            a, b, c = torch.randn(3, 5, 7, device=device).to(dtype).unbind(0)
            row, turned = a[0].clone(), b.t()
            for tensors in ((a, b, c), (turned, turned, turned), (a[:0], b[:0], c[:0])):
                x, y, z = tensors
                yield from ((kernels.multiply_add, (x, y, z)), (kernels.multiply_add_backward, (x, y, z)),
                            (kernels.add_mul_exp, (x, y)), (kernels.add_mul_exp_backward, (x, y)),
                            (kernels.add_relu, (x, y)), (kernels.add_relu_backward, (x, y)),
                            (kernels.mul_tanh, (x, y)), (kernels.mul_tanh_backward, (x, y, z)),
                            (kernels.gelu, (x,)), (kernels.gelu_backward, (x, y, True)))
            yield from ((kernels.bias_gelu, (a, row)), (kernels.bias_gelu_backward, (a, b, row, True)),
                        (kernels.bias_gelu, (a.t(), a[:, 0])), (kernels.bias_gelu_backward, (a, c, row)),
                        (kernels.bias_gelu_backward, (a.t(), a.t(), a[:, 0])))
            for x, weight in ((a, b), (turned, c.t()), (a[:0], b), (a[:, :0], b[:, :0])):
                yield (kernels.linear_gelu, (x, weight, weight.sum(1)))
            for x, dim in ((a, 1), (turned, 0), (a[:0], -1), (c, -2)):
                y = x.sum(dim)
                yield from ((kernels.sum_of_squares, (x, dim)), (kernels.mean_abs, (x, dim)),
                            (kernels.sum_of_squares_backward, (y, x, dim)),
                            (kernels.mean_abs_backward, (y, x, dim)))
            for x in (a, turned, a[:0], a[:, :0]):
                yield from ((kernels.quantize_int8, (x, 0.05, 3.0)), (kernels.quantize_rows, (x,)))
            seed = torch.tensor(7, device=device)
            rows = [(a, b, row), (a.t(), b.t(), a[:, 0]), (a, b, c), (a[:0], b[:0], row)]
            for x, y, weight in rows if dtype == torch.float32 else rows[:1]:
                yield from ((kernels.gelu_dropout, (x, seed, 0.5)),
                            (kernels.gelu_dropout_backward, (y, x, seed, 0.5, True)),
                            (kernels.layer_norm_relu, (x, weight, weight)),
                            (kernels.layer_norm_relu_backward, (y, x, weight, weight)),
                            (kernels.relu_layer_norm, (x, weight, weight)),
                            (kernels.relu_layer_norm_backward, (y, x, weight)),
                            (kernels.residual_rms_norm, (x, y, weight)),
                            (kernels.residual_rms_norm_backward, (y, x, x, weight)),
                            (kernels.residual_rms_norm_backward, (y, None, x, weight)))


def call_samples():
    """All samples in one process, for compute-sanitizer."""
    for operator, inputs in samples():
        operator(*inputs)
    if workbook_ops.CUDA_AVAILABLE:
        torch.cuda.synchronize()


def strides_of(results):
    """Those of dimensions that have more than one element."""
    results = results if isinstance(results, (tuple, list)) else (results,)
    return [[step for step, size in zip(t.stride(), t.shape) if size > 1] for t in results if t.numel() > 0]


def check_opcheck():
    checked = set()
    for operator, arguments in samples():
        with FakeTensorMode() as mode:  # opcheck compares strides on a GPU alone
            fakes = [mode.from_tensor(t) if isinstance(t, torch.Tensor) else t for t in arguments]
            of_fakes = strides_of(operator(*fakes))
        real = strides_of(operator(*arguments))
        if real != of_fakes:
            expect(f"{operator}: its fake has its strides", False, f"{of_fakes} instead of {real}")
        tests = ("test_schema", "test_autograd_registration", "test_faketensor")
        if str(operator) not in checked:  # compiling takes longer than all the others
            tests = (*tests, "test_aot_dispatch_dynamic")
        torch.library.opcheck(operator, arguments, test_utils=tests)  # raises
        checked.add(str(operator))
    expect("opcheck finds nothing in any of 27 operators", len(checked) == 27, checked)


def compiled_faults(case, backend, shapes):
    torch._dynamo.reset()
    compiled = torch.compile(case.call, fullgraph=True, backend=backend)
    for shape in shapes:
        inputs = inputs_of(case, shape, torch.float32, DEVICES[-1])
        eager, of_eager, _ = gradients_of(case, inputs)
        results, gradients, _ = gradients_of(case, inputs, compiled)
        if not all(map(torch.equal, (*eager, *of_eager), (*results, *gradients))):
            return f"{shape}"
    with torch.no_grad():
        if not all(map(torch.equal, call(compiled, inputs), eager)):
            return f"{shape}, without gradient"
    return ""


def check_compiled():
    for case in CASES:
        fault_ = compiled_faults(case, "aot_eager", [(5, 7), (33, 2)])
        expect(f"{case.name}: compiled in full, the results are the same", not fault_, fault_)
    torch._dynamo.reset()
    square = torch.compile(lambda x: workbook_ops.mul_tanh(x, x), fullgraph=True, backend="aot_eager")
    x = torch.randn(5, requires_grad=True)
    calls = (square, lambda x: workbook_ops.mul_tanh(x, x))
    same = torch.equal(*(torch.autograd.grad(call(x).sum(), x)[0] for call in calls))
    expect("one tensor as both inputs: compiled, the gradient is the same", same)
    named = {case.name: case for case in CASES}
    # With inductor's own generator, the seed would be another one, and compiling it takes 20 seconds.
    with torch._inductor.config.patch(fallback_random=True):
        for name in ("bias_gelu, tanh", "residual_rms_norm", "gelu_dropout, none"):
            fault_ = compiled_faults(named[name], "inductor", [(5, 7)])
            expect(f"{name}: the same with inductor", not fault_, fault_)


# --- Errors ---


def message(function):
    try:
        function()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return "nothing was raised"


def check_errors():
    x, y, half = torch.zeros(2, 3), torch.zeros(3), torch.zeros(2, 3).half()
    wrong = {
        "a and b must have the same shape, but are [2, 3] and [3]; nothing is broadcast":
            lambda x, y, half: workbook_ops.add_relu(x, y),
        "q and v must have the same type, but are ":
            lambda x, y, half: workbook_ops.multiply_add(x, x, half),
        "x must be float64, float32, float16 or bfloat16, not ":
            lambda x, y, half: workbook_ops.gelu(x.long()),
        "bias must have the shape [3], that of the last dimension of x, but is [2, 3]":
            lambda x, y, half: workbook_ops.bias_gelu(x, x),
        "x must have at least one dimension, which bias is added along":
            lambda x, y, half: workbook_ops.bias_gelu(x[0, 0], y),
        "gelu_dropout: x must be float32, float16 or bfloat16, not ":
            lambda x, y, half: workbook_ops.gelu_dropout(x.double()),
        "sum_of_squares: x must be float64, float32, float16 or bfloat16, not ":
            lambda x, y, half: workbook_ops.sum_of_squares(x.int(), 0),
        "sum_of_squares: dim must be from -2 to 1, not 2":
            lambda x, y, half: workbook_ops.sum_of_squares(x, 2),
        "mean_abs: dim must be from -1 to 0, not -2":
            lambda x, y, half: workbook_ops.mean_abs(y[0], -2),
        "grad must have the shape of the result, that of x without dimension 0, but is [2, 3] for [2, 3]":
            lambda x, y, half: kernels.mean_abs_backward(x, x, 0),
        "sum_of_squares_backward: x and grad must have the same type, but are ":
            lambda x, y, half: kernels.sum_of_squares_backward(half[0], x, 0),
        "linear_gelu: x must be float32 or bfloat16, not ":
            lambda x, y, half: kernels.linear_gelu(half, half, half[:, 0]),
        "x must have at least one dimension, the last of which is multiplied":
            lambda x, y, half: kernels.linear_gelu(y[0], x, y),
        "weight must have two dimensions, the second one 3, that of the last dimension of x, but is [3]":
            lambda x, y, half: kernels.linear_gelu(x, y, y),
        "bias must have the shape [2], that of the first dimension of weight, but is [3]":
            lambda x, y, half: kernels.linear_gelu(x, x, y),
        "linear_gelu: x and weight must have the same type, but are ":
            lambda x, y, half: workbook_ops.linear_gelu(x, half, y[:2], backend="custom"),
        "quantize_int8: x must be float32, float16 or bfloat16, not ":
            lambda x, y, half: workbook_ops.quantize_int8(x.double(), 1, 0),
        "quantize_int8: scale must be a positive number of float32, from 1.4e-45 to 3.4e38, not 0":
            lambda x, y, half: workbook_ops.quantize_int8(x, 0, 0),
        "from 1.4e-45 to 3.4e38, not -1": lambda x, y, half: workbook_ops.quantize_int8(x, -1, 0),
        "from 1.4e-45 to 3.4e38, not nan": lambda x, y, half: workbook_ops.quantize_int8(x, math.nan, 0),
        "from 1.4e-45 to 3.4e38, not inf": lambda x, y, half: workbook_ops.quantize_int8(x, math.inf, 0),
        "from 1.4e-45 to 3.4e38, not 1e-46": lambda x, y, half: workbook_ops.quantize_int8(x, 1e-46, 0),
        "quantize_int8: zero_point must be from -128 to 127, not 128":
            lambda x, y, half: workbook_ops.quantize_int8(x, 1, 128),
        "quantize_rows: x must be float32, float16 or bfloat16, not ":
            lambda x, y, half: workbook_ops.quantize_rows(x.double()),
        "quantize_rows: x must have at least one dimension, the last of which is a row":
            lambda x, y, half: workbook_ops.quantize_rows(y[0]),
        "seed must be one int64, but is ":
            lambda x, y, half: kernels.gelu_dropout(x, y, 0.5),
        "gelu: x has 2147483648 elements; 2147483647 is the most":
            lambda x, y, half: workbook_ops.gelu(y[:1].expand(2**31)),
        "quantize_int8: x has 2147483648 elements":
            lambda x, y, half: workbook_ops.quantize_int8(y[:1].expand(2**31), 1, 0),
        "quantize_rows: x has 2147483648 elements":
            lambda x, y, half: workbook_ops.quantize_rows(y[:1].expand(2**31)),
        "mean_abs: x has 2147483648 elements":
            lambda x, y, half: workbook_ops.mean_abs(y[:1].expand(2**31), 0),
        "linear_gelu: the result has 2147483648 elements":
            lambda x, y, half: kernels.linear_gelu(y[:1].expand(2**16, 1), y[:1].expand(2**15, 1),
                                                   y[:1].expand(2**15)),
        "p must be from 0 to 1, not 1.5":
            lambda x, y, half: kernels.gelu_dropout(x, x.new_zeros((), dtype=torch.int64), 1.5),
        "weight must have the shape of the last dimensions of x, at least one, but is [2] for [2, 3]":
            lambda x, y, half: workbook_ops.layer_norm_relu(x, 2, x[:, 0], y),
        "weight must have the shape of the last dimensions of x, at least one, but is [] for [2, 3]":
            lambda x, y, half: workbook_ops.residual_rms_norm(x, x, y[0]),
        "weight and bias must have the same shape, but are [3] and [2, 3]":
            lambda x, y, half: workbook_ops.relu_layer_norm(x, 3, y, x),
        "x and residual must have the same shape, but are [2, 3] and [3]":
            lambda x, y, half: workbook_ops.residual_rms_norm(x, y, y),
        "x and weight must have the same type, but are ":
            lambda x, y, half: workbook_ops.residual_rms_norm(x, x, half[0]),
    }
    for text, function in wrong.items():
        for where, device in (("", "cpu"), (", by its fake too", "meta")):
            moved = [t.to(device) for t in (x, y, half)]
            said = message(lambda: function(*moved))
            expect(f"refused{where}: {text}", text in said, said)

    calls = {
        "a and b must be on the same device, but are on cpu and meta":
            lambda: workbook_ops.add_relu(x, x.to("meta")),
        'backend must be "auto", "cublas" or "custom", not \'fast\'':
            lambda: workbook_ops.linear_gelu(x, x, y[:2], backend="fast"),
        "for argument 'dim' but instead found type 'tuple'": lambda: workbook_ops.mean_abs(x, (0, 1)),
        "quantize_rows: tensor 1 of 1 must be a Tensor, not float": lambda: workbook_ops.quantize_rows(1.0),
        "multiply_add: tensor 2 of 3 must be a Tensor, not float":
            lambda: workbook_ops.multiply_add(x, 2.0, x),
        "gelu: tensor 1 of 1 must be a Tensor, not NoneType": lambda: workbook_ops.gelu(None),
        'approximate must be "none" or "tanh", not \'erf\'': lambda: workbook_ops.gelu(x, "erf"),
        "gelu_dropout: p must be from 0 to 1, not nan": lambda: workbook_ops.gelu_dropout(x, float("nan")),
        "weight must have the normalized shape [2, 3], but is [3]":
            lambda: workbook_ops.layer_norm_relu(x, (2, 3), y, y),
        "x and seed must be on the same device, but are on cpu and meta":
            lambda: kernels.gelu_dropout(x, torch.zeros((), dtype=torch.int64, device="meta"), 0.5),
    }
    for text, function in calls.items():
        said = message(function)
        expect(f"refused: {text}", text in said, said)
    if "cuda" not in DEVICES:
        return
    said = message(lambda: workbook_ops.add_relu(x.cuda(), x))
    expect("refused: two devices", "must be on the same device, but are on cuda:0 and cpu" in said, said)


def second_derivatives(function, eager, inputs):
    """Whether first and second derivatives are those of PyTorch's own operators."""
    found = []
    for each in (function, eager):
        generator = torch.Generator().manual_seed(5)
        leaves = [t.detach().clone().requires_grad_() for t in inputs]
        results = call(each, leaves)
        total = sum((y * torch.randn(y.shape, generator=generator)).sum() for y in results)
        first = torch.autograd.grad(total, leaves, create_graph=True)
        total = sum((y * torch.randn(y.shape, generator=generator)).sum() for y in first)
        second = torch.autograd.grad(total, leaves, materialize_grads=True)
        found.append((*first, *second))
    return all(torch.allclose(*pair, rtol=1e-3, atol=1e-4) for pair in zip(*found))


def check_derivatives():
    for case in CASES:
        inputs = inputs_of(case, (3, 5), torch.float32, "cpu")
        eager = case.reference(torch.float32) if case.name.startswith("gelu_dropout") else case.eager
        expect(f"{case.name}: second derivatives", second_derivatives(case.call, eager, inputs))
        x, *rest = (each.detach() for each in inputs)

        def in_forward_mode():
            with torch.autograd.forward_ad.dual_level():
                call(case.call, (torch.autograd.forward_ad.make_dual(x, torch.ones_like(x)), *rest))
        rows = torch.vmap(lambda t: call(case.call, (t, *rest))[0], randomness="different")
        for name, derivative in {
                "in forward mode": in_forward_mode,
                "by torch.func": lambda: torch.func.grad(lambda t: call(case.call, (t, *rest))[0].sum())(x),
                "through torch.vmap": lambda: rows(inputs[0])}.items():
            said = message(derivative)
            raised = "are not supported: use backward()" in said
            expect(f"{case.name}: a derivative {name} raises", raised, said)


def check_autograd():
    q, k, v = (torch.randn(3, requires_grad=i != 1) for i in range(3))
    result = workbook_ops.multiply_add(q, k, v)
    saved = [t for t in result.grad_fn.saved_tensors if t is not None]
    expect("multiply_add saves k alone if only q needs it", len(saved) == 1 and saved[0] is k, saved)
    result.sum().backward()
    expect("and has its gradients", torch.equal(q.grad, k) and torch.equal(v.grad, torch.ones(3)))
    with torch.autocast("cpu", torch.bfloat16):
        result = workbook_ops.bias_gelu(torch.zeros(2, 3, dtype=torch.bfloat16), torch.zeros(3))
        kept = workbook_ops.gelu(torch.zeros(3, dtype=torch.float16))
    expect("autocast: the widest type of the inputs", result.dtype == torch.float32, result.dtype)
    expect("autocast: one type stays", kept.dtype == torch.float16, kept.dtype)


def check_compiled_autocast():
    x, bias = torch.randn(2, 3, dtype=torch.bfloat16), torch.randn(3, requires_grad=True)
    compiled = torch.compile(workbook_ops.bias_gelu, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", torch.bfloat16):
        same = torch.equal(compiled(x, bias), workbook_ops.bias_gelu(x, bias))
    expect("autocast: compiled, the result is the same", same)


# --- The process ---


def check_process():
    expect("denormal numbers are kept", (torch.tensor(1e-40) * 1).item() > 0)
    a, b = torch.arange(5.0), torch.empty(5)
    inputs = (ctypes.c_void_p * 3)(*[a.data_ptr()] * 3)
    library = ctypes.CDLL(kernels.C_LAYER)
    library.workbook_elementwise_cpu(0, 1, inputs, (ctypes.c_void_p * 1)(b.data_ptr()), 1, 0, 5)
    expect("the C layer can be called by itself", torch.equal(b, a * a + a), b)
    if "cuda" not in DEVICES:
        return  # so this process is one without a GPU
    program = ("import torch, workbook_ops as w; x = torch.ones(3, requires_grad=True); "
               "w.gelu(x).sum().backward(); print(w.CUDA_AVAILABLE, x.grad.shape)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    expect("a process without a GPU", done.stdout == "False torch.Size([3])\n", done.stdout + done.stderr)


def check_gpu():
    x = torch.randn(1 << 22, device="cuda")
    wanted = workbook_ops.gelu(x)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(10_000_000)
        y = torch.zeros_like(x).copy_(x)
        result = workbook_ops.gelu(y)  # on another stream it would read y before it is copied
    side.synchronize()
    expect("kernels run on the current stream", torch.equal(result, wanted))
    graph, bias = torch.cuda.CUDAGraph(), torch.randn(1024, device="cuda")
    rows, grad = x.view(-1, 1024), torch.randn(4096, 1024, device="cuda")
    kernels.bias_gelu_backward(grad, rows, bias)
    with torch.cuda.graph(graph):
        captured = kernels.bias_gelu_backward(grad, rows, bias)
    x.normal_()
    graph.replay()
    expect("a CUDA graph", all(map(torch.equal, captured, kernels.bias_gelu_backward(grad, rows, bias))))


def main():
    warnings.simplefilter("error", UserWarning)  # PyTorch warns of a gradient that nobody computes
    torch.set_num_threads(1)  # check_same_everywhere() has two
    check_process()
    check_values()
    check_layouts()
    check_special_values()
    check_tables()
    check_same_everywhere()
    check_dropout()
    check_norms()
    check_quantisation()
    check_reductions()
    check_linear()
    check_modules()
    check_autograd()
    check_derivatives()
    check_errors()
    check_opcheck()
    if workbook_ops.CUDA_AVAILABLE:
        check_gpu()
        check_aligned_rows()
        check_linear_on_gpu()
        check_linear_streams()
    warnings.simplefilter("ignore")  # inductor has warnings of its own
    check_compiled()
    check_compiled_quantisation()
    check_compiled_linear()
    check_compiled_autocast()
    if workbook_ops.CUDA_AVAILABLE:
        expect("the current GPU is still the first", torch.cuda.current_device() == 0)
    print("PyTorch", torch.__version__, "on", " and ".join(DEVICES))


if __name__ == "__main__":
    main()
