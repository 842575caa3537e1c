"""Times PyTorch, eager and compiled, on the shapes of a folder's chapters, as common/gpu/timing.cu does.

Needs a GPU, PyTorch, and the chapters' JSON from the same card, which says the shapes:

    build/bin/01_multiply_add --device gpu --sweep --json results/01_multiply_add.json
    python3 plots/peers.py results

For each NN_chapter.json that has an entry below it writes peers_NN_chapter.json beside it, in the form of
docs/json.md. Exit status 2: bad usage or a file that is not what it should be; 3: no GPU, no PyTorch, or
another card than the chapters'.
"""

import dataclasses
import datetime
import json
import pathlib
import random
import statistics
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Callable

from card import card
from results import BadFile, fail, peers_of, read_runs, require

try:
    import torch
except ImportError:
    torch = None

SAMPLES = 25
SAMPLE_US = 4000  # a sample holds about this much work
MOST_RUNS = 256  # in one graph
MOST_SETS = 128


# --- What is timed: an entry a chapter ---


@dataclasses.dataclass
class Operation:
    """One way to compute a chapter's result into the tensors of a set, and the least bytes that it moves."""

    name: str
    idea: str
    run: Callable
    read_bytes: int
    write_bytes: int
    flops: float = 0  # of a chapter that is bound by arithmetic
    compiled: bool = False
    tolerance: float = 1e-6  # of the error
    output: str = "out"  # the tensor of a set that it computes
    against: str = ""  # the chapter's stage that its speed-up is over; the first where none is named


@dataclasses.dataclass
class Chapter:
    make_set: Callable  # (shape) -> tensors by name
    operations: Callable  # (shape) -> operations
    error: Callable  # (tensors, output) -> largest error, relative to the sum of its terms' absolute values


def uniform(count, low, high):
    return torch.empty(count, device="cuda").uniform_(low, high)


def multiply_add_set(shape):
    n = shape[0]
    return {"q": uniform(n, -1, 2), "k": uniform(n, -0.5, 1), "v": uniform(n, -2, 3),
            "product": torch.empty(n, device="cuda"), "out": torch.empty(n, device="cuda")}


def multiply_add_operations(shape):
    n = shape[0]

    def eager(s):
        torch.mul(s["q"], s["k"], out=s["product"])
        torch.add(s["product"], s["v"], out=s["out"])

    def formula(q, k, v, out):
        out.copy_(q * k + v)

    compiled = torch.compile(formula, dynamic=False)
    return [Operation("torch", "PyTorch as written: a kernel for each operation", eager, 16 * n, 8 * n),
            Operation("torch.compile", "one kernel, which Inductor writes in Triton",
                      lambda s: compiled(s["q"], s["k"], s["v"], s["out"]), 12 * n, 4 * n, compiled=True)]


def multiply_add_error(s, output):
    q, k, v, out = (s[name].double() for name in ("q", "k", "v", "out"))
    product = q * k
    return float(((out - product - v).abs() / (product.abs() + v.abs())).max())


def add_mul_exp_set(shape):
    n = shape[0]
    return {"x": uniform(n, -1.5, 1), "y": uniform(n, -1, 1.5), "between": torch.empty(n, device="cuda"),
            "out": torch.empty(n, device="cuda")}


def add_mul_exp_operations(shape):
    n = shape[0]

    def eager(s):
        torch.add(s["x"], s["y"], out=s["between"])
        torch.mul(s["between"], 2, out=s["between"])
        torch.exp(s["between"], out=s["out"])

    def formula(x, y, out):
        out.copy_(torch.exp((x + y) * 2))

    compiled = torch.compile(formula, dynamic=False)
    return [Operation("torch", "PyTorch as written: a kernel for each operation", eager, 16 * n, 12 * n),
            Operation("torch.compile", "one kernel, which Inductor writes in Triton",
                      lambda s: compiled(s["x"], s["y"], s["out"]), 8 * n, 4 * n, compiled=True)]


def add_mul_exp_error(s, output):
    argument = (s["x"].double() + s["y"].double()) * 2
    expected = torch.exp(argument)
    return float(((s["out"] - expected).abs() / (expected * (1 + argument.abs()))).max())


SCALE, ZERO_POINT = 0.05, 3.0


def quantize_set(shape):
    rows, columns = shape
    x = uniform(rows * columns, -7, 8).reshape(rows, columns)
    if rows > 1:
        x *= torch.empty(rows, 1, device="cuda").uniform_(0.1, 1)
    return {"x": x, "scale": torch.tensor(SCALE, device="cuda"), "out": torch.empty_like(x, dtype=torch.int8)}


def quantized(x, scale):
    return torch.clamp(torch.round(x / scale + ZERO_POINT), -128, 127).to(torch.int8)


def quantized_rows(x):
    largest = x.abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    return torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8)


def quantize_operations(shape):
    n = shape[0] * shape[1]
    compiled = torch.compile(lambda x, scale, out: out.copy_(quantized(x, scale)), dynamic=False)
    compiled_rows = torch.compile(lambda x, out: out.copy_(quantized_rows(x)), dynamic=False)
    operations = [Operation("torch", "PyTorch as written: a kernel for each operation",
                            lambda s: s["out"].copy_(quantized(s["x"], s["scale"])), 20 * n, 17 * n),
                  Operation("torch.compile", "one kernel, which Inductor writes in Triton",
                            lambda s: compiled(s["x"], s["scale"], s["out"]), 4 * n, n, compiled=True)]
    if shape[0] > 1:
        operations.append(Operation("torch, rows", "a scale for each row, a kernel for each operation",
                                    lambda s: s["out"].copy_(quantized_rows(s["x"])), 24 * n, 17 * n))
        operations.append(Operation("torch.compile, rows", "a scale for each row, fused by Inductor",
                                    lambda s: compiled_rows(s["x"], s["out"]), 4 * n, n, compiled=True))
    return operations


def quantize_error(s, output):
    """The largest difference, in steps, from the one or the other that the operations give one by one."""
    wanted = [quantized(s["x"], s["scale"])] + ([quantized_rows(s["x"])] if s["x"].shape[0] > 1 else [])
    return float(min((s["out"].int() - q.int()).abs().max() for q in wanted))


EPSILON = 1e-5


def relu_layernorm_set(shape):
    rows, columns = shape
    x = uniform(rows * columns, -2, 3).reshape(rows, columns)
    x = x.mul_(uniform(rows, 0.25, 1)[:, None]).add_(uniform(rows, 0.25, 1)[:, None])
    return {"x": x, "weight": uniform(columns, 0.5, 1.5), "bias": uniform(columns, -1, 0.5),
            "rectified": torch.empty_like(x), "out": torch.empty_like(x),
            "mean": torch.empty(rows, 1, device="cuda"), "inverse": torch.empty(rows, 1, device="cuda"),
            "squares": torch.empty(rows, device="cuda"), "means": torch.empty(columns, device="cuda")}


def relu_layernorm_operations(shape):
    rows, columns = shape
    n = rows * columns

    def eager(s):
        torch.ops.aten.relu.out(s["x"], out=s["rectified"])
        torch.ops.aten.native_layer_norm.out(s["rectified"], [columns], s["weight"], s["bias"], EPSILON,
                                             out0=s["out"], out1=s["mean"], out2=s["inverse"])

    def formula(x, weight, bias, out):
        out.copy_(torch.nn.functional.layer_norm(torch.relu(x), (columns,), weight, bias, EPSILON))

    compiled = torch.compile(formula, dynamic=False)
    compiled_squares = torch.compile(lambda x, out: out.copy_((x * x).sum(dim=1)), dynamic=False)
    compiled_means = torch.compile(lambda x, out: out.copy_(x.abs().mean(dim=0)), dynamic=False)
    return [Operation("torch", "PyTorch as written: ReLU, then LayerNorm", eager, 8 * n, 8 * n,
                      against="7_unfused"),
            Operation("torch.compile", "ReLU and LayerNorm, which Inductor writes in Triton",
                      lambda s: compiled(s["x"], s["weight"], s["bias"], s["out"]), 4 * n, 4 * n,
                      compiled=True, against="7_unfused"),
            Operation("torch.compile, squares", "sums of squares of the rows",
                      lambda s: compiled_squares(s["x"], s["squares"]), 4 * n, 4 * rows, compiled=True,
                      output="squares", against="1_atomic"),
            Operation("torch.compile, columns", "means of absolute values of the columns",
                      lambda s: compiled_means(s["x"], s["means"]), 4 * n, 4 * columns, compiled=True,
                      output="means", tolerance=rows * 2 ** -24,  # of any order of the additions
                      against="6_columns")]


def relu_layernorm_error(s, output):
    if output != "out":
        x = s["x"].double()
        expected = {"squares": (x * x).sum(dim=1), "means": x.abs().mean(dim=0)}[output]
        return float(((s[output] - expected).abs() / expected).max())
    r = torch.relu(s["x"]).double()
    mean = r.mean(dim=1, keepdim=True)
    factor = s["weight"] / (((r - mean) ** 2).mean(dim=1, keepdim=True) + EPSILON).sqrt()
    terms = (r + mean) * factor.abs() + s["bias"].abs()
    return float(((s["out"] - (r - mean) * factor - s["bias"]).abs() / terms).max())


def linear_gelu_set(shape):
    m, k, n = shape
    reach = 3 / k ** 0.5
    return {"x": uniform(m * k, -1, 1).reshape(m, k), "w": uniform(n * k, -reach, reach).reshape(n, k),
            "bias": uniform(n, -0.5, 1).bfloat16().float(),
            **{name: torch.empty(m, n, device="cuda") for name in ("product", "out", "out_tanh")}}


def tensor_cores_set(shape):
    """The same, rounded to bfloat16."""
    return {name: tensor.bfloat16() for name, tensor in linear_gelu_set(shape).items()}


def eager_linear_gelu(approximate, output):
    def run(s):
        torch.addmm(s["bias"], s["x"], s["w"].t(), out=s["product"])
        torch.ops.aten.gelu.out(s["product"], approximate=approximate, out=s[output])
    return run


def compiled_linear_gelu(approximate, output):
    def formula(x, w, bias, out):
        out.copy_(torch.nn.functional.gelu(torch.nn.functional.linear(x, w, bias), approximate=approximate))

    run = torch.compile(formula, dynamic=False)
    return lambda s: run(s["x"], s["w"], s["bias"], s[output])


def linear_gelu_traffic(shape, element_bytes):
    """(operations, bytes read, bytes written) of one kernel that computes all."""
    m, k, n = shape
    return 2 * m * k * n, element_bytes * (m * k + n * k + n), element_bytes * m * n


def linear_gelu_operations(shape):
    """In float32, where PyTorch uses TF32 only if it is told to."""
    flops, read, written = linear_gelu_traffic(shape, 4)
    return [Operation("torch", "PyTorch as written: Linear, then GELU", eager_linear_gelu("none", "out"),
                      read + written, 2 * written, flops),
            Operation("torch, tanh", "the same with the tanh form", eager_linear_gelu("tanh", "out_tanh"),
                      read + written, 2 * written, flops, output="out_tanh"),
            Operation("torch.compile", "Linear and GELU, as Inductor has them done",
                      compiled_linear_gelu("none", "out"), read, written, flops, compiled=True)]


def tensor_cores_operations(shape):
    """In bfloat16, with the tanh form of GELU."""
    flops, read, written = linear_gelu_traffic(shape, 2)

    def library(s):
        s["out_tanh_library"] = torch._addmm_activation(s["bias"], s["x"], s["w"].t(), use_gelu=True)

    common = {"flops": flops, "tolerance": 2 ** -8, "output": "out_tanh", "against": "1_wmma"}
    return [Operation("torch, bfloat16", "Linear, then GELU (tanh), in bfloat16",
                      eager_linear_gelu("tanh", "out_tanh"), read + written, 2 * written, **common),
            Operation("torch.compile, bfloat16", "the same as Inductor has it done",
                      compiled_linear_gelu("tanh", "out_tanh"), read, written, compiled=True, **common),
            Operation("torch, GELU_BIAS", "torch._addmm_activation: cuBLASLt's epilogue", library, read,
                      written, **{**common, "output": "out_tanh_library"})]


def linear_gelu_error(s, output):
    rows = slice(0, 256)  # in double precision, all of them would take longer than the rest
    x, w, bias = s["x"][rows].double(), s["w"].double(), s["bias"].double()
    form = "tanh" if output.startswith("out_tanh") else "none"
    expected = torch.nn.functional.gelu(x @ w.t() + bias, approximate=form)
    terms = x.abs() @ w.abs().t() + bias.abs()
    return float(((s[output][rows] - expected).abs() / terms).max())


CHAPTERS = {"01_multiply_add": Chapter(multiply_add_set, multiply_add_operations, multiply_add_error),
            "02_add_mul_exp": Chapter(add_mul_exp_set, add_mul_exp_operations, add_mul_exp_error),
            "03_quantize_int8": Chapter(quantize_set, quantize_operations, quantize_error),
            "04_relu_layernorm": Chapter(relu_layernorm_set, relu_layernorm_operations, relu_layernorm_error),
            "05_linear_gelu": Chapter(linear_gelu_set, linear_gelu_operations, linear_gelu_error),
            "06_tensor_cores": Chapter(tensor_cores_set, tensor_cores_operations, linear_gelu_error)}


# --- How it is timed ---


class Replay:
    """Many runs between two events in one graph."""

    def __init__(self, run, sets, runs):
        self.runs = runs
        self.start, self.end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.start.record()
            for i in range(runs):
                run(sets[i % len(sets)])
            self.end.record()

    def sample(self):
        """Microseconds a run."""
        self.graph.replay()
        torch.cuda.synchronize()
        return 1e3 * self.start.elapsed_time(self.end) / self.runs


def set_bytes(tensors):
    return sum(tensor.nbytes for tensor in tensors.values())


def cold_runs(one_set, sets, l2_bytes, wanted):
    """No set twice while all sets together would stay in the cache."""
    if one_set * sets >= 3 * l2_bytes:
        return max(wanted, min(sets, MOST_RUNS))
    return min(wanted, sets)


def summary(samples):
    p25, median, p75 = statistics.quantiles(samples, n=4, method="inclusive")
    return {"median": median, "p25": p25, "p75": p75, "samples": len(samples)}


def time(operations, sets, l2_bytes):
    """{name: (cold, warm)}: the operations take turns in a new random order each time, so that a change of
    the clocks meets all of them."""
    flush = torch.zeros(3 * l2_bytes // 4, device="cuda")
    replays = {}
    for operation in operations:
        operation.run(sets[0])  # compiles, which a graph cannot hold
        trial = Replay(operation.run, sets[:1], 2)
        trial.sample()
        wanted = min(max(int(SAMPLE_US / trial.sample()), 1), MOST_RUNS)
        cold = cold_runs(set_bytes(sets[0]), len(sets), l2_bytes, wanted)
        replays[operation.name] = Replay(operation.run, sets, cold), Replay(operation.run, sets[:1], wanted)

    samples = {operation.name: ([], []) for operation in operations}
    for turn in range(SAMPLES + 1):
        for name, pair in random.sample(list(replays.items()), len(replays)):
            flush.sum()
            for kept, replay in zip(samples[name], pair):
                us = replay.sample()
                if turn > 0:  # the first is not kept
                    kept.append(us)
    return {name: tuple(summary(s) for s in pair) for name, pair in samples.items()}


def kernels_of(operation, tensors):
    """Launches of one run."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        operation.run(tensors)
        torch.cuda.synchronize()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in profile.events())


NO_COUNTS = ("load_requests", "load_sectors", "store_requests", "store_sectors", "shared_load_wavefronts",
             "shared_store_wavefronts", "shared_requests", "atomic_sectors", "contended",
             "compulsory_read_bytes", "compulsory_write_bytes", "approximate")


def stage(operation, chapter, tensors, cold, warm):
    output = tensors[operation.output]
    output.fill_(float("nan") if output.is_floating_point() else 99)
    operation.run(tensors)
    error = chapter.error(tensors, operation.output)
    right = error < operation.tolerance  # NaN is not
    moved = operation.read_bytes + operation.write_bytes
    return {"name": operation.name, "idea": operation.idea, "status": "ok" if right else "wrong",
            "message": "" if right else f"largest error {error}", "error": error,
            **({"against": operation.against} if operation.against else {}),
            "kernels": kernels_of(operation, tensors),
            "traffic": {**dict.fromkeys(NO_COUNTS), "expected_read_bytes": operation.read_bytes,
                        "expected_write_bytes": operation.write_bytes},
            "time_us": cold, "time_warm_us": warm, "ceiling_us": None, "registers": None, "spill_bytes": None,
            "occupancy": None, "gbytes_per_s": moved / cold["median"] * 1e-3,
            "tflops": operation.flops / cold["median"] * 1e-6 if operation.flops else None,
            "fraction_of_ceiling": None}


def measure(name, chapter, run):
    """The peers of one chapter at one shape, `run`, as its JSON."""
    torch.manual_seed(1)
    torch._dynamo.reset()
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    sets = [chapter.make_set(run["shape"])]
    more = min(3 * l2_bytes // set_bytes(sets[0]), MOST_SETS - 1)
    sets += [chapter.make_set(run["shape"]) for _ in range(more)]
    operations = chapter.operations(run["shape"])
    times = time(operations, sets, l2_bytes)
    stages = [stage(operation, chapter, sets[0], *times[operation.name]) for operation in operations]
    return {"schema": run["schema"], "chapter": name, "device": run["device"], "shape": run["shape"],
            "dtype": run["dtype"], "commit": run["commit"], "date": datetime.date.today().isoformat(),
            "torch": torch.__version__, "stages": stages}


# --- Files ---


def chapter_runs(path):
    """The runs of a chapter on a GPU."""
    try:
        runs = read_runs(path)
        for i, run in enumerate(runs):
            require(run["device"], {"driver": str}, f"{path}: [{i}].device")
    except BadFile as bad:
        fail(2, bad)
    return runs


def require_same_card(path, device):
    here = card()
    if here["gpu"] != device["name"] or not device["driver"].startswith(here["driver"]):
        fail(3, f"{path} is from {device['name']}, driver {device['driver']}; "
                f"this is {here['gpu']}, driver {here['driver']}. Peers are measured where the chapters are.")


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the chapters' JSON")
    folder = parser.parse_args().folder
    paths = sorted(folder.glob("[0-9][0-9]_*.json"))
    found = [(path, CHAPTERS[path.stem]) for path in paths if path.stem in CHAPTERS]
    if not found:
        fail(2, f"{folder} has no JSON of a chapter with peers: {', '.join(CHAPTERS)}")
    runs_of = {path: chapter_runs(path) for path, _ in found}
    if torch is None:
        fail(3, "PyTorch is not installed: https://pytorch.org/get-started")
    if not torch.cuda.is_available():
        fail(3, "PyTorch finds no GPU")
    for path, chapter in found:
        results = []
        for run in runs_of[path]:
            require_same_card(path, run["device"])
            results.append(measure(path.stem, chapter, run))
            for timed in results[-1]["stages"]:
                print(f"{path.stem} {run['shape']}: {timed['name']:14} {timed['time_us']['median']:10.2f} us "
                      f"{timed['gbytes_per_s']:7.0f} GB/s  {timed['status']}", flush=True)
            torch.cuda.empty_cache()
        peers_of(path).write_text(json.dumps(results, indent=1) + "\n")


main()
