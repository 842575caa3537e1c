"""Times the operators of workbook_ops beside PyTorch, eager and compiled, on a GPU if there is one, or on the
CPU.

    pip install ./chapters/09_pytorch
    python3 chapters/09_pytorch/measure.py

A time is the median of 9 rounds, in us. In a round, all contenders are timed one after the other. ladder.py
times single calls.
"""

import argparse
import functools
import json
import pathlib
import statistics
import time
from typing import Callable, NamedTuple

import ladder
import torch
import torch.nn.functional as F
import workbook_ops
from measured import WAYS, heading_of, row_of

ROUNDS = 9
TYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SHORT_TYPES = TYPES[1:]


def alike(count, rows=0):
    """The shapes of inputs: `count` of the full shape, and `rows` of that of the last dimension."""
    return lambda m, n: [(m, n)] * count + [(n,)] * rows


class Contender(NamedTuple):
    """An operator and what people write without it. Without `gradient`, the forward pass is all there is."""

    name: str
    ours: Callable
    eager: Callable
    shapes: Callable[[int, int], list]
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
    Contender("multiply_add", workbook_ops.multiply_add, lambda q, k, v: q * k + v, alike(3)),
    Contender("add_mul_exp", workbook_ops.add_mul_exp, lambda x, y: torch.exp((x + y) * 2), alike(2)),
    Contender("add_relu", workbook_ops.add_relu, lambda a, b: torch.relu(a + b), alike(2)),
    Contender("mul_tanh", workbook_ops.mul_tanh, lambda a, b: torch.tanh(a * b), alike(2)),
    Contender("gelu", workbook_ops.gelu, F.gelu, alike(1)),
    Contender("gelu, tanh", lambda x: workbook_ops.gelu(x, "tanh"),
              lambda x: F.gelu(x, approximate="tanh"), alike(1)),
    Contender("bias_gelu", workbook_ops.bias_gelu, lambda x, bias: F.gelu(x + bias), alike(1, 1)),
    Contender("gelu_dropout", workbook_ops.gelu_dropout, lambda x: F.dropout(F.gelu(x)), alike(1),
              SHORT_TYPES),
    Contender("layer_norm_relu", lambda x, w, b: workbook_ops.layer_norm_relu(x, w.shape, w, b),
              lambda x, w, b: torch.relu(F.layer_norm(x, w.shape, w, b)), alike(1, 2), SHORT_TYPES),
    Contender("relu_layer_norm", lambda x, w, b: workbook_ops.relu_layer_norm(x, w.shape, w, b),
              lambda x, w, b: F.layer_norm(torch.relu(x), w.shape, w, b), alike(1, 2), SHORT_TYPES),
    Contender("residual_rms_norm", workbook_ops.residual_rms_norm, eager_rms_norm, alike(2, 1), SHORT_TYPES),
    Contender("linear_gelu", lambda x, w, b: workbook_ops.linear_gelu(x, w, b, "tanh"),
              lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh"),
              lambda m, n: [(m, n), (4 * n, n), (4 * n,)], (torch.float32, torch.bfloat16)),
    Contender("sum_of_squares", lambda x: workbook_ops.sum_of_squares(x, -1),
              lambda x: x.square().sum(-1), alike(1)),
    Contender("mean_abs", lambda x: workbook_ops.mean_abs(x, 0), lambda x: x.abs().mean(0), alike(1)),
    Contender("quantize_int8", lambda x: workbook_ops.quantize_int8(x, 0.05, 0),
              lambda x: in_steps(x, 0.05), alike(1), SHORT_TYPES, gradient=False),
    Contender("quantize_rows", workbook_ops.quantize_rows, eager_quantize_rows, alike(1), SHORT_TYPES,
              gradient=False),
]


def inputs_of(contender, rows, columns, dtype, device, gradient=False):
    tensors = [torch.randn(shape, device=device).to(dtype) for shape in contender.shapes(rows, columns)]
    return [tensor.requires_grad_(gradient) for tensor in tensors]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


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


def times_of(contender, rows, columns, dtype, device):
    """{way: [forward, forward and backward]}, the second only where there is a gradient."""
    functions = dict(zip(WAYS, (contender.eager, torch.compile(contender.eager), contender.ours)))
    plain = inputs_of(contender, rows, columns, dtype, device)
    leaves = inputs_of(contender, rows, columns, dtype, device, gradient=True)
    timed = [{way: functools.partial(function, *plain) for way, function in functions.items()}]
    if contender.gradient:
        grads = [torch.randn_like(result) for result in results_of(contender.ours, plain)]
        timed.append({way: functools.partial(forward_and_backward, function, leaves, grads)
                      for way, function in functions.items()})
    times = [medians(each, device, 20 if device == "cuda" else 1) for each in timed]
    return {way: [round(each[way], 1) for each in times] for way in WAYS}


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    default = "cuda" if workbook_ops.CUDA_AVAILABLE else "cpu"
    parser.add_argument("--device", choices=("cpu", "cuda"), default=default)
    parser.add_argument("--operator", choices=[each.name for each in CONTENDERS], help="only this one")
    parser.add_argument("--type", choices=[name_of(each) for each in TYPES], help="only this one")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--json", type=pathlib.Path, help="a file for the results")
    options = parser.parse_args()
    if options.device == "cuda" and not workbook_ops.CUDA_AVAILABLE:
        parser.error("there is no GPU that workbook_ops can use")
    return options


def main():
    options = parsed()
    device, rows, columns = options.device, options.rows, options.columns
    of_type = f" --type {options.type}" if options.type else ""
    command = f"measure.py --rows {rows} --columns {columns}{of_type}"
    run = ladder.origin(device, command, torch.get_num_threads())
    run |= {"rows": rows, "columns": columns, "times": []}
    print("\n".join(heading_of(run)), flush=True)
    for contender in (each for each in CONTENDERS if options.operator in (None, each.name)):
        for dtype in (each for each in contender.types if options.type in (None, name_of(each))):
            times = times_of(contender, rows, columns, dtype, device)
            run["times"].append({"operator": contender.name, "type": name_of(dtype), "times": times})
            print(row_of(run["times"][-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(run, indent=1) + "\n")


if __name__ == "__main__":
    main()
