"""Times a call of q * k + v on each rung of the ladder, and says at which sizes the fused operator is faster.

    ./workbook run 09        builds the operators and runs this

The rungs are a C++ program (bare.cpp), the files of stages/, and for comparison PyTorch itself. Each has a
process of its own, since a stage may change the operator for all that follow. The processes take turns: in a
round, each rung is timed once for each task. A time is the median of the rounds, in us. "Host" is what a call
takes the host, which does not wait for the GPU; the times of the sizes end when the GPU has ended. Exit
status: 0, 1 for a wrong result, 2 for wrong usage, 3 where the machine lacks what is needed.
"""

import argparse
import contextlib
import datetime
import functools
import importlib
import json
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS, CALLS = 15, 300
SIZES = [1, *(2 ** power for power in (10, 14, 16, 18, 20, 22, 24))]


class Rung(typing.NamedTuple):
    gradient: bool = False  # whether it is timed with a gradient wanted, too
    sizes: bool = False  # and for each size


BARE = "0_bare"  # the C++ program
# The first four are what PyTorch brings.
RUNGS = {"empty_like": Rung(), "eager": Rung(gradient=True, sizes=True),
         "eager_compiled": Rung(gradient=True, sizes=True), "eager_graph": Rung(sizes=True),
         BARE: Rung(sizes=True), "01_ctypes": Rung(), "02_custom_op": Rung(), "03_operator": Rung(),
         "04_registered": Rung(gradient=True), "05_function": Rung(gradient=True, sizes=True),
         "06_compiled": Rung(gradient=True), "07_graph": Rung(sizes=True)}
GRAPHS = ("eager_graph", "07_graph")  # need a GPU
COMPARED = (("05_function", "eager"), ("05_function", "eager_compiled"), ("07_graph", "eager_graph"))


def end(status, message):
    print(f"ladder.py: {message}", file=sys.stderr)
    sys.exit(status)


# --- One rung, in a process of its own ---


def eager(q, k, v):
    return q * k + v


def call_of(rung, inputs):
    """A function that calls a rung with these inputs, and how many calls of the operator it makes."""
    import torch
    sys.path.insert(0, str(HERE / "stages"))
    if rung in GRAPHS:
        graph = importlib.import_module("07_graph")
        call = graph.record(inputs) if rung == "07_graph" else graph.record(inputs, eager)
        return call, graph.CALLS
    known = {"empty_like": lambda q, k, v: torch.empty_like(q), "eager": eager,
             "eager_compiled": torch.compile(eager, fullgraph=True)}
    function = known[rung] if rung in known else importlib.import_module(rung).multiply_add
    return lambda: function(*inputs), 1


def is_right(result, inputs):
    """Whether each element is q * k + v but for two roundings."""
    q, k, v = (tensor.detach().double() for tensor in inputs)
    product, wanted = q * k, q * k + v
    error = (result.detach().double() - wanted).abs()
    return bool((error <= 2 ** -23 * (product.abs() + wanted.abs())).all())


@functools.cache
def checked_call(rung, device, n, gradient):
    """The same as call_of, and the inputs: while they are kept, a CUDA graph may read them."""
    import torch
    torch.manual_seed(9)
    inputs = [torch.randn(n, device=device).requires_grad_(gradient) for _ in range(3)]
    call, calls_in_one = call_of(rung, inputs)
    if rung != "empty_like" and not is_right(call(), inputs):
        end(1, f"{rung}: a result is wrong, at {n} elements")
    return call, calls_in_one, inputs


def serve(rung, device):
    """Answers each task, a line "ELEMENTS CALLS host|gradient|whole", with the microseconds of a call."""
    import torch
    torch.set_num_threads(1)  # as the C++ program has; on the CPU, more of them add noise
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for line in sys.stdin:
        n, calls, what = line.split()
        call, calls_in_one, _ = checked_call(rung, device, int(n), what == "gradient")
        replays = max(int(calls) // calls_in_one, 1)
        call()  # gives this process the processor, its caches and the GPU
        wait()
        start = time.perf_counter()
        for _ in range(replays):
            call()
        if what == "whole":
            wait()
        print((time.perf_counter() - start) / replays / calls_in_one * 1e6, flush=True)


# --- All rungs, in turns ---


def tasks_of(rung, device):
    """The tasks of a rung: {what it is called in the results: line}."""
    tasks = {"host": f"1 {CALLS} host"}
    if RUNGS[rung].gradient:
        tasks["gradient"] = f"1 {CALLS} gradient"
    for n in SIZES if RUNGS[rung].sizes else ():
        calls = 100 if device == "cuda" else min(100, max(1, 2 ** 22 // n))
        tasks[str(n)] = f"{n} {calls} whole"
    return tasks


def start(rung, device, bare):
    in_python = [sys.executable, __file__, "--rung", rung, "--device", device]
    command = [bare, device] if rung == BARE else in_python
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def send(process, task):
    with contextlib.suppress(BrokenPipeError):  # answer() notices that the process has ended
        print(task, file=process.stdin, flush=True)


def answer(process):
    """The answer to a task; if the process has failed, this one fails in the same way."""
    line = process.stdout.readline()
    if not line:
        status = process.wait()
        sys.exit(status if status in (1, 3) else 1)
    return float(line)


def take_turns(processes, device):
    """{rung: {task: median over the rounds}}"""
    tasks = {rung: tasks_of(rung, device) for rung in processes}
    for rung, process in processes.items():  # the first time, all at once: loading and compiling take long
        for task in tasks[rung].values():
            send(process, task)
    for rung, process in processes.items():
        for _ in tasks[rung]:
            answer(process)
    samples = {rung: {name: [] for name in tasks[rung]} for rung in processes}
    turns = [(name, rung) for name in ("host", "gradient", *map(str, SIZES))
             for rung in processes if name in tasks[rung]]
    for _ in range(ROUNDS):
        for name, rung in turns:
            send(processes[rung], tasks[rung][name])
            samples[rung][name].append(answer(processes[rung]))
    return {rung: {name: round(statistics.median(values), 3) for name, values in named.items()}
            for rung, named in samples.items()}


def measured(rungs, device, bare):
    processes = {rung: start(rung, device, bare) for rung in rungs}
    try:
        return take_turns(processes, device)
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


# --- The tables ---


def cost_rows(rungs):
    rows = [f"{'one element, us':18}{'host':>10}{'gradient wanted':>18}"]
    for rung, times in rungs.items():
        gradient = f"{times['gradient']:.2f}" if "gradient" in times else "-"
        rows.append(f"{rung:18}{times['host']:10.2f}{gradient:>18}")
    return rows


def faster_rows(rungs):
    """At which sizes the operator takes at most 0.95 times as long as PyTorch without it."""
    rows = []
    for ours, theirs in COMPARED:
        if theirs in rungs:
            at = [str(n) for n in SIZES if rungs[ours][str(n)] <= 0.95 * rungs[theirs][str(n)]]
            rows.append(f"{ours} is faster than {theirs} at: {', '.join(at) or 'no size'}")
    return rows


def size_rows(rungs):
    columns = {f"{rung:>{max(len(rung) + 2, 10)}}": times
               for rung, times in rungs.items() if RUNGS[rung].sizes}
    rows = ["elements" + "".join(columns)]
    rows += [f"{n:8}" + "".join(f"{times[str(n)]:{len(heading)}.2f}" for heading, times in columns.items())
             for n in SIZES]
    return rows + [""] + faster_rows(rungs)


TABLES = {"costs": cost_rows, "sizes": size_rows}


# --- The program ---


def commit():
    describe = ["git", "-C", HERE, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(describe, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def name_of(device, threads):
    import torch
    if device == "cuda":
        return torch.cuda.get_device_name()
    models = re.findall(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{models[0] if models else 'CPU'}, {'one thread' if threads == 1 else f'{threads} threads'}"


def origin(device, command, threads):
    """Where, when and how times are measured."""
    import torch
    return {"device": name_of(device, threads), "torch": torch.__version__,
            "date": str(datetime.date.today()), "commit": commit(), "command": command}


def parsed():
    parser = argparse.ArgumentParser(prog="./workbook run 09", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), help="as a rule the GPU if there is one")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the times there as well")
    parser.add_argument("--bare", type=pathlib.Path, help=argparse.SUPPRESS)  # the program of bare.cpp
    parser.add_argument("--rung", choices=RUNGS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    options = parsed()
    try:
        import workbook_ops
    except ImportError as missing:
        end(3, f"{missing}: ./workbook run 09 builds what is needed")
    if options.rung:
        return serve(options.rung, options.device)
    if options.json and not options.json.parent.is_dir():
        end(2, f"--json {options.json}: there is no folder {options.json.parent}")
    has_gpu = workbook_ops.CUDA_AVAILABLE
    if options.device == "cuda" and not has_gpu:
        end(3, "there is no GPU that workbook_ops can use")
    device = options.device or ("cuda" if has_gpu else "cpu")
    run = origin(device, f"./workbook run 09 --device {device}", threads=1)
    print(f"q * k + v in float32, {run['device']}, PyTorch {run['torch']}\n", flush=True)
    rungs = [rung for rung in RUNGS if (device == "cuda" or rung not in GRAPHS)
             and (options.bare or rung != BARE)]
    run["rungs"] = measured(rungs, device, options.bare)
    print("\n\n".join("\n".join(rows_of(run["rungs"])) for rows_of in TABLES.values()))
    if device == "cpu":
        print("\nThe CUDA graphs need a GPU.")
    if options.json:
        options.json.write_text(json.dumps(run, indent=1) + "\n")


if __name__ == "__main__":
    main()
