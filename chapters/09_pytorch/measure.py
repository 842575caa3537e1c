"""Times the operators of workbook_ops beside eager PyTorch, on a GPU if there is one, or on the CPU.

    pip install ./chapters/09_pytorch
    python3 chapters/09_pytorch/measure.py

A time is the median of 9 rounds. In a round, all contenders are timed one after the other. ladder.py times
single calls.
"""

import argparse
import statistics
import time
from typing import Callable, NamedTuple

import torch
import torch.nn.functional as F
import workbook_ops

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


def medians(contenders, device, calls):
    """Microseconds per call of each contender."""
    samples = {name: [] for name in contenders}
    for round_ in range(ROUNDS + 1):  # the first one warms up
        for name, call in contenders.items():
            synchronise(device)
            start = time.perf_counter()
            for _ in range(calls):
                call()
            synchronise(device)
            if round_:
                samples[name].append((time.perf_counter() - start) / calls * 1e6)
    return {name: statistics.median(values) for name, values in samples.items()}


def results_of(function, tensors):
    results = function(*tensors)
    return results if isinstance(results, tuple) else (results,)


def forward_and_backward(function, tensors, grads):
    return torch.autograd.grad(results_of(function, tensors), tensors, grads)


def print_times(device, rows, columns, only):
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
            time_us = list(medians(timed, device, calls).values())
            row = f"{contender.name:18}{str(dtype).removeprefix('torch.'):10}"
            for theirs, mine in zip(time_us[::2], time_us[1::2]):
                row += f"{theirs:10.0f}{mine:10.0f}{mine / theirs:7.2f}"
            print(row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    default = "cuda" if workbook_ops.CUDA_AVAILABLE else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=default)
    parser.add_argument("--operator", choices=[each.name for each in CONTENDERS], help="only this one")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=1024)
    options = parser.parse_args()
    if options.device == "cuda" and not workbook_ops.CUDA_AVAILABLE:
        parser.error("there is no GPU that workbook_ops can use")
    card = torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} threads"
    print(f"PyTorch {torch.__version__}, {options.device}: {card}")
    print_times(options.device, options.rows, options.columns, options.operator)


main()
