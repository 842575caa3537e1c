"""Times the operators of workbook_ops, on the CPU or on a GPU: what a call costs on each level, and how long
large arrays take beside eager PyTorch.

    pip install ./chapters/09_pytorch
    python3 chapters/09_pytorch/measure.py                        both tables, on a GPU if there is one
    python3 chapters/09_pytorch/measure.py --device cpu --levels  the first table alone

A time is the median of 9 rounds. In a round, all contenders are timed one after the other.
"""

import argparse
import ctypes
import statistics
import time
from typing import Callable, NamedTuple

import torch
import torch.nn.functional as F
import workbook_ops
from workbook_ops import kernels

ROUNDS = 9
TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SHORT_TYPES = TYPES[1:]


class Contender(NamedTuple):
    """An operator and what people write without it, `inputs` with the full shape and `rows` with only that of
    the last dimension. Without `gradient`, the forward pass is all there is."""

    name: str
    ours: Callable
    eager: Callable
    inputs: int
    rows: int = 0
    types: tuple = TYPES
    gradient: bool = True


def eager_rms_norm(x, residual, weight):
    total = x + residual
    return F.rms_norm(total, weight.shape, weight, 1e-5), total


def in_steps(x, scale):
    return (x / scale).round().clamp(-128, 127).to(torch.int8)


def eager_quantize_rows(x):
    scales = x.abs().amax(-1, keepdim=True).float() / 127
    return in_steps(x, scales), scales


CONTENDERS = [
    Contender("multiply_add", workbook_ops.multiply_add, lambda q, k, v: q * k + v, 3),
    Contender("add_mul_exp", workbook_ops.add_mul_exp, lambda x, y: torch.exp((x + y) * 2), 2),
    Contender("add_relu", workbook_ops.add_relu, lambda a, b: torch.relu(a + b), 2),
    Contender("mul_tanh", workbook_ops.mul_tanh, lambda a, b: torch.tanh(a * b), 2),
    Contender("gelu", workbook_ops.gelu, F.gelu, 1),
    Contender("gelu, tanh", lambda x: workbook_ops.gelu(x, "tanh"),
              lambda x: F.gelu(x, approximate="tanh"), 1),
    Contender("bias_gelu", workbook_ops.bias_gelu, lambda x, bias: F.gelu(x + bias), 1, 1),
    Contender("gelu_dropout", workbook_ops.gelu_dropout, lambda x: F.dropout(F.gelu(x)), 1, 0, SHORT_TYPES),
    Contender("layer_norm_relu", lambda x, w, b: workbook_ops.layer_norm_relu(x, w.shape, w, b),
              lambda x, w, b: torch.relu(F.layer_norm(x, w.shape, w, b)), 1, 2, SHORT_TYPES),
    Contender("relu_layer_norm", lambda x, w, b: workbook_ops.relu_layer_norm(x, w.shape, w, b),
              lambda x, w, b: F.layer_norm(torch.relu(x), w.shape, w, b), 1, 2, SHORT_TYPES),
    Contender("residual_rms_norm", workbook_ops.residual_rms_norm, eager_rms_norm, 2, 1, SHORT_TYPES),
    Contender("sum_of_squares", lambda x: workbook_ops.sum_of_squares(x, -1),
              lambda x: x.square().sum(-1), 1),
    Contender("mean_abs", lambda x: workbook_ops.mean_abs(x, 0), lambda x: x.abs().mean(0), 1),
    Contender("quantize_int8", lambda x: workbook_ops.quantize_int8(x, 0.05, 0),
              lambda x: in_steps(x, 0.05), 1, 0, SHORT_TYPES, gradient=False),
    Contender("quantize_rows", workbook_ops.quantize_rows, eager_quantize_rows, 1, 0, SHORT_TYPES,
              gradient=False),
]


def inputs_of(contender, rows, columns, dtype, device, gradient=False):
    shapes = [(rows, columns)] * contender.inputs + [(columns,)] * contender.rows
    tensors = [torch.randn(shape, device=device).to(dtype) for shape in shapes]
    return [tensor.requires_grad_(gradient) for tensor in tensors]


def synchronise(device):
    if device == "cuda":
        torch.cuda.synchronize()


def medians(contenders, device, calls, wait):
    """Microseconds per call of each contender; without `wait`, those of the host alone."""
    samples = {name: [] for name in contenders}
    for round_ in range(ROUNDS + 1):  # the first one warms up
        for name, call in contenders.items():
            synchronise(device)
            start = time.perf_counter()
            for _ in range(calls):
                call()
            if wait:
                synchronise(device)
            if round_:
                samples[name].append((time.perf_counter() - start) / calls * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


# --- What a call costs ---


def c_layer(tensors, result, device):
    """multiply_add of float32 with nothing around it: ctypes calls the C layer with pointers made before."""
    library = ctypes.CDLL(kernels.C_LAYER)
    pointers = (ctypes.c_void_p * 3)(*(tensor.data_ptr() for tensor in tensors))
    out = (ctypes.c_void_p * 1)(result.data_ptr())
    multiply_add, float32, n = 0, 1, result.numel()
    if device == "cpu":
        return lambda: library.workbook_elementwise_cpu(multiply_add, float32, pointers, out, 1, 0, n)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return lambda: library.workbook_elementwise_cuda(multiply_add, float32, pointers, out, 1, n, stream)


def print_levels(device):
    plain = inputs_of(CONTENDERS[0], 1, 1, torch.float32, device)
    with_gradient = inputs_of(CONTENDERS[0], 1, 1, torch.float32, device, gradient=True)
    result = torch.empty_like(plain[0])
    eager = CONTENDERS[0].eager
    compiled = torch.compile(workbook_ops.multiply_add, fullgraph=True)
    compiled(*plain)
    contenders = {
        "empty_like": lambda: torch.empty_like(result),
        "the C layer, from ctypes": c_layer(plain, result, device),
        "kernels.multiply_add": lambda: kernels.multiply_add(*plain),
        "workbook_ops.multiply_add": lambda: workbook_ops.multiply_add(*plain),
        "the same, gradient wanted": lambda: workbook_ops.multiply_add(*with_gradient),
        "eager q * k + v": lambda: eager(*plain),
        "the same, gradient wanted ": lambda: eager(*with_gradient),
        "compiled workbook_ops.multiply_add": lambda: compiled(*plain),
    }
    print(f"\nq * k + v, one element, {device}                us of the host")
    for name, time_us in medians(contenders, device, 500, wait=False).items():
        print(f"{name:40}{time_us:10.2f}")


# --- Large arrays ---


def results_of(function, tensors):
    results = function(*tensors)
    return results if isinstance(results, tuple) else (results,)


def forward_and_backward(function, tensors, grads):
    return torch.autograd.grad(results_of(function, tensors), tensors, grads)


def print_large(device, rows, columns, only):
    print(f"\n{rows} x {columns} elements, {device}; us; ratio = ours / eager, less is better\n")
    print(f"{'':38}forward{'':8}forward and backward")
    print(f"{'operator':18}{'type':10}" + 2 * f"{'eager':>10}{'ours':>10}{'ratio':>7}")
    calls = 20 if device == "cuda" else 1
    for contender in (each for each in CONTENDERS if only in (None, each.name)):
        ours, eager = contender.ours, contender.eager
        for dtype in contender.types:
            plain = inputs_of(contender, rows, columns, dtype, device)
            leaves = inputs_of(contender, rows, columns, dtype, device, gradient=True)
            timed = {"eager": lambda: eager(*plain), "ours": lambda: ours(*plain)}
            if contender.gradient:
                grads = [torch.randn_like(result) for result in results_of(ours, plain)]
                timed |= {"eager both": lambda: forward_and_backward(eager, leaves, grads),
                          "ours both": lambda: forward_and_backward(ours, leaves, grads)}
            time_us = list(medians(timed, device, calls, wait=True).values())
            row = f"{contender.name:18}{str(dtype).removeprefix('torch.'):10}"
            for theirs, mine in zip(time_us[::2], time_us[1::2]):
                row += f"{theirs:10.0f}{mine:10.0f}{mine / theirs:7.2f}"
            print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    default = "cuda" if workbook_ops.CUDA_AVAILABLE else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=default)
    parser.add_argument("--levels", action="store_true", help="only what a call costs")
    parser.add_argument("--large", action="store_true", help="only large arrays")
    parser.add_argument("--operator", choices=[each.name for each in CONTENDERS], help="only this one")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=1024)
    options = parser.parse_args()
    if options.device == "cuda" and not workbook_ops.CUDA_AVAILABLE:
        parser.error("there is no GPU that workbook_ops can use")
    card = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} threads"
    print(f"PyTorch {torch.__version__}, {options.device}: {card}")
    if not options.large:
        print_levels(options.device)
    if not options.levels:
        print_large(options.device, options.rows, options.columns, options.operator)


main()
