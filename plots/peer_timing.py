"""How contenders are timed on the GPU: as common/gpu/timing.cu times our stages."""

import collections
import json
import math
import pathlib
import tempfile
import time

import torch

import nvml
from turns import cold_runs, runs_for, sets_for, stays_cold

SUSTAINED_US = 1e6  # of a sample in sustained mode; the second half counts


def tensors_in(results):
    """A contender's results as a tuple, also if there is one."""
    return (results,) if isinstance(results, torch.Tensor) else tuple(results)


def nbytes(tensors):
    return sum(tensor.nbytes for tensor in tensors)


class Memory:
    """The memory that all graphs of a shape share, because only one of them runs at a time.

    PyTorch gives a pool up with its last graph; so this one has a graph of its own, whatever fails.
    """

    def __init__(self):
        self.pool = torch.cuda.graph_pool_handle()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, pool=self.pool):
            torch.zeros(1, device="cuda")


class Replay:
    """Many runs between two events in one graph.

    Run i takes its inputs from set i % len(sets). Results are allocated in the graph, as the contender does
    it. While the graph is captured, the results of the last len(sets) runs are kept, so that each of these
    runs gets memory of its own, and results are as cold as inputs. Memory that is freed within a run, such as
    that of an intermediate result, is where PyTorch's allocator puts it: mostly where it was in the run
    before.

    The results of the last run stay.
    """

    def __init__(self, run, sets, runs, memory):
        self.runs, self.last_inputs = runs, sets[(runs - 1) % len(sets)]
        self.start, self.end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
        self.graph = torch.cuda.CUDAGraph()
        kept = collections.deque(maxlen=len(sets))
        with torch.cuda.graph(self.graph, pool=memory.pool):
            self.start.record()
            for i in range(runs):
                kept.append(tensors_in(run(*sets[i % len(sets)])))
            self.end.record()
        self.last_results = kept[-1]

    def sample(self):
        """Microseconds per run."""
        self.graph.replay()
        torch.cuda.synchronize()
        return 1e3 * self.start.elapsed_time(self.end) / self.runs

    def timed(self):
        return {"us": self.sample()}

    def sustained(self, us, gpu):
        """A second of replays: microseconds per run in its second half, and what NVML says meanwhile."""
        half = math.ceil(SUSTAINED_US / 2 / (us * self.runs))
        middle, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for event in (middle, end):
            for _ in range(half):
                self.graph.replay()
            event.record()
        middle.synchronize()
        readings = []
        while not end.query():
            reading = gpu.read()
            readings += [reading] if reading else []
            time.sleep(0.02)
        torch.cuda.synchronize()
        return {"us": 1e3 * middle.elapsed_time(end) / (half * self.runs), **nvml.means(readings)}


def poison(tensors):
    """Bytes of ones: NaN in all types of floating point, -1 in int8."""
    for tensor in tensors:
        tensor.untyped_storage().fill_(0xFF)


def kernels_of(run, inputs):
    """How many kernels one run launches, without memsets and copies.

    The profiler's events hold its own annotations as well; only its trace says what is what.
    """
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run(*inputs)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    return sum(event.get("cat") == "kernel" for event in events)


class Entrant:
    """A contender at one shape: what it touches, whether it is right, and its graphs."""

    def __init__(self, contender, inputs):
        """Runs it once: everything is compiled and tuned before anything is timed."""
        self.contender, self.problem = contender, ""
        self.counted = self.cold = self.warm = None
        self.error = self.last_places = None
        chosen = self.pick(inputs)
        results = tensors_in(contender.function(*chosen))
        torch.cuda.synchronize()
        self.read_bytes, self.write_bytes = nbytes(chosen), nbytes(results)
        self.integers = not results[0].is_floating_point()
        self.check(chosen, results)

    @property
    def touched(self):
        return self.read_bytes + self.write_bytes

    def pick(self, inputs):
        return tuple(inputs[name] for name in self.contender.inputs)

    def check(self, inputs, results):
        """Once wrong, always wrong."""
        self.error, right, self.last_places = self.contender.check(inputs, results)
        if not right and not self.problem:
            self.problem = f"its result is wrong: largest error {self.error}"

    def can_sustain(self, l2_bytes):
        """Whether its sets are so many that none is in the L2 cache when its turn comes again."""
        return stays_cold(self.touched, sets_for(self.touched, l2_bytes), l2_bytes)

    def capture(self, sets, l2_bytes, memory):
        """The graphs: with inputs from all sets in turn, and with the same inputs again and again."""
        sets = [self.pick(inputs) for inputs in sets[:sets_for(self.touched, l2_bytes)]]
        run = self.contender.function
        trial = Replay(run, sets[:1], 2, memory)
        trial.sample()
        wanted = runs_for(trial.sample())
        self.cold = Replay(run, sets, cold_runs(self.touched, len(sets), l2_bytes, wanted), memory)
        self.warm = Replay(run, sets[:1], wanted, memory)

    def check_again(self):
        """The results of the timed graph, in memory that was poisoned before."""
        poison(self.cold.last_results)
        self.cold.sample()
        self.check(self.cold.last_inputs, self.cold.last_results)

    def count(self, inputs):
        self.counted = kernels_of(self.contender.function, self.pick(inputs))
        declared = self.contender.kernels
        if self.counted not in declared and not self.problem:
            expected = " or ".join(map(str, declared))
            self.problem = f"it launched {self.counted} kernels, its entry in contenders/ says {expected}"


class Flush:
    """Streams three times the L2 cache of data that no contender uses through it."""

    def __init__(self, l2_bytes):
        self.data = torch.zeros(3 * l2_bytes // 4, device="cuda")

    def run(self):
        self.data.sum()
