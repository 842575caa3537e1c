"""Times what the chapters are compared with, beside the chapters' own stages: PyTorch, Triton, libraries.

Needs a GPU, PyTorch with Triton, the built programs, and the chapters' JSON from the same card, which says
the shapes:

    build/bin/01_multiply_add --device gpu --sweep --json results/01_multiply_add.json
    python3 plots/peers.py results
    python3 plots/peers.py results --chapters 05_linear_gelu 06_tensor_cores --sustained 8192x8192x8192

For each NN_chapter.json it writes peers_NN_chapter.json beside it, in the form of docs/json.md, after each
shape; with --shapes, the file's results of other shapes stay. The contenders are in plots/contenders/;
plots/peer_timing.py and docs/measuring.md say how they are timed. In each round, all contenders and the
stages of ours that compute the same take a sample, in a random order: ratios are of samples of the same
round.

Exit status 1: a contender is wrong, or a chapter's program has failed; 2: bad usage or a file that is not
what it should be; 3: no GPU, no PyTorch, or another card than the chapters'.
"""

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main(): no traceback from the middle of an import

import datetime
import importlib.util
import json
import pathlib
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from functools import partial

from card import card
from contenders import MODULES, module_of
from nvml import Nvml
from our_stages import OurStages, ProgramFailed
from peer_entries import entry, entry_left_out, replaced, row, size_of, times
from results import BadFile, fail, interruptible, peers_of, read_runs, require
from turns import sets_for, take_turns

try:
    import torch

    import peer_timing
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    torch = None

BURST_ROUNDS, SUSTAINED_ROUNDS = 25, 9


def say(text):
    print(text, flush=True)


# --- One chapter at one shape ---


class Outcomes:
    """The contenders of a shape: `entrants` run and are right, `left_out` has a status and a reason."""

    def __init__(self):
        self.entrants, self.left_out = {}, {}

    def attempt(self, contender, step):
        """Does a step that prepares a contender; if it fails, the contender is left out."""
        try:
            return step()
        except Exception as error:  # whatever a compiler or a library may raise
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            self.leave_out(contender, "skipped" if contender.of_others else "wrong", reason)

    def leave_out(self, contender, status, reason):
        self.entrants.pop(contender.name, None)
        self.left_out[contender.name] = status, reason


def first_runs(contenders, inputs):
    """Runs each contender once, which compiles it."""
    outcomes = Outcomes()
    for contender in contenders:
        if contender.skipped:
            outcomes.leave_out(contender, "skipped", contender.skipped)
            continue
        start = time.monotonic()
        entrant = outcomes.attempt(contender, lambda: peer_timing.Entrant(contender, inputs))
        if entrant and entrant.problem:
            outcomes.leave_out(contender, "wrong", entrant.problem)
        elif entrant:
            outcomes.entrants[contender.name] = entrant
        if time.monotonic() - start > 10:
            say(f"  {contender.name}: compiled in {time.monotonic() - start:.0f} s")
    return outcomes


def capture(outcomes, make_inputs, inputs, l2_bytes):
    """The graphs of all entrants, with the number of sets of inputs that the most demanding one needs."""
    entrants = list(outcomes.entrants.values())
    most = max((sets_for(entrant.touched, l2_bytes) for entrant in entrants), default=1)
    sets = [inputs] + [make_inputs() for _ in range(most - 1)]
    memory = peer_timing.Memory()
    for entrant in entrants:
        outcomes.attempt(entrant.contender, lambda: entrant.capture(sets, l2_bytes, memory))


def burst_samplers(entrants, ours, l2_bytes):
    flush = peer_timing.Flush(l2_bytes)

    def burst(replay):
        flush.run()
        return replay.timed()

    return {**{("peer", name): partial(burst, entrant.cold) for name, entrant in entrants.items()},
            **{("ours", stage): partial(ours.ask, "burst", stage) for stage in ours.ready}}


def sustained_samplers(entrants, ours, l2_bytes, gpu, burst):
    return {**{("peer", name): partial(entrant.cold.sustained, burst["peer", name][0]["us"], gpu)
               for name, entrant in entrants.items() if entrant.can_sustain(l2_bytes)},
            **{("ours", stage): partial(ours.ask, "sustained", stage) for stage in ours.ready}}


def sample(entrants, ours, l2_bytes, gpu, with_sustained):
    """{regime: {("peer" or "ours", name): samples}}."""
    burst = take_turns(burst_samplers(entrants, ours, l2_bytes), BURST_ROUNDS)
    warm = {("peer", name): entrant.warm.timed for name, entrant in entrants.items()}
    samples = {"burst": burst, "warm": take_turns(warm, BURST_ROUNDS)}
    if with_sustained:
        samplers = sustained_samplers(entrants, ours, l2_bytes, gpu, burst)
        samples["sustained"] = take_turns(samplers, SUSTAINED_ROUNDS)
        if gpu.missing:
            say(f"  clocks and power of the contenders are null: {gpu.missing}")
    return samples


def stages_beside(run, contenders):
    """The stages of ours that the contenders are compared with and that run at this shape."""
    wanted = {stage for contender in contenders for stage in contender.ours}
    return [stage["name"] for stage in run["stages"] if stage["name"] in wanted and stage["status"] == "ok"]


def measure(run, program, with_sustained):
    """The contenders of a chapter at the shape of `run`, which is the chapter's own, as their JSON."""
    torch.manual_seed(1)
    torch._dynamo.reset()
    properties = torch.cuda.get_device_properties(0)
    l2_bytes, uuid = properties.L2_cache_size, f"GPU-{properties.uuid}"
    module, shape = module_of(run["chapter"]), run["shape"]
    inputs = module.make_inputs(shape)
    contenders = module.contenders(shape)
    outcomes = first_runs(contenders, inputs)
    capture(outcomes, partial(module.make_inputs, shape), inputs, l2_bytes)
    entrants = outcomes.entrants
    wanted = stages_beside(run, [entrant.contender for entrant in entrants.values()])
    with OurStages(program, shape, wanted) as ours:
        samples = sample(entrants, ours, l2_bytes, Nvml(uuid), with_sustained)
    for entrant in entrants.values():
        entrant.check_again()
    for entrant in entrants.values():
        entrant.count(inputs)
    stages = [entry(entrants[contender.name], samples) if contender.name in entrants
              else entry_left_out(contender, *outcomes.left_out[contender.name]) for contender in contenders]
    return {"schema": run["schema"], "chapter": run["chapter"],
            "device": {**run["device"], "uuid": uuid}, "shape": shape, "dtype": run["dtype"],
            "commit": run["commit"], "date": datetime.date.today().isoformat(), "torch": torch.__version__,
            "stages": stages,
            "ours": [{"name": stage, **times(samples, ("ours", stage))} for stage in ours.ready]}


def say_all(measured):
    say(f"{measured['chapter']} {size_of(measured['shape'])}")
    for stage in measured["ours"]:
        say(f"  {stage['name']:34}{stage['time_us']['median']:10.2f} us  ours")
    for stage in measured["stages"]:
        say(row(stage))


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
    """By its UUID as well, where the chapter's file has it."""
    here = card()
    if here["gpu"] != device["name"] or not device["driver"].startswith(here["driver"]):
        fail(3, f"{path} is from {device['name']}, driver {device['driver']}; "
                f"this is {here['gpu']}, driver {here['driver']}. Peers are measured where the chapters are.")
    uuid = f"GPU-{torch.cuda.get_device_properties(0).uuid}"
    if device.get("uuid", uuid) != uuid:
        fail(3, f"{path} is from the GPU {device['uuid']}; this is {uuid}. "
                "Peers are measured where the chapters are.")


def stored_peers(path):
    """The results that a file of peers holds already."""
    try:
        return read_runs(path) if path.exists() else []
    except BadFile as bad:
        fail(2, bad)


# --- Main ---


def parse():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="folder of the chapters' JSON")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/bin"), metavar="FOLDER",
                        help="folder of the chapters' programs, default build/bin")
    parser.add_argument("--chapters", nargs="+", metavar="CHAPTER", choices=MODULES, default=list(MODULES),
                        help="these alone, such as 01_multiply_add")
    parser.add_argument("--shapes", nargs="+", metavar="SHAPE",
                        help="of the shapes in the chapters' JSON, these alone, such as 4096x1024")
    parser.add_argument("--sustained", nargs="+", metavar="SHAPE", default=[],
                        help="at these shapes, time runs of a second as well")
    return parser.parse_args()


def chosen_runs(options):
    """{a chapter's file: its runs at the shapes that are wanted}, and all its shapes in order."""
    paths = [path for path in sorted(options.folder.glob("[0-9][0-9]_*.json"))
             if path.stem in options.chapters]
    if not paths:
        fail(2, f"{options.folder} has no JSON of a chapter with peers: {', '.join(options.chapters)}")
    runs_of = {path: chapter_runs(path) for path in paths}
    known = {size_of(run["shape"]) for runs in runs_of.values() for run in runs}
    for shape in [*(options.shapes or []), *options.sustained]:
        if shape not in known:
            fail(2, f"{shape} is not a shape of {', '.join(path.name for path in paths)}")
    orders = {path: [tuple(run["shape"]) for run in runs] for path, runs in runs_of.items()}
    if options.shapes:
        runs_of = {path: [run for run in runs if size_of(run["shape"]) in options.shapes]
                   for path, runs in runs_of.items()}
    return runs_of, orders


def require_programs(options, runs_of):
    for path, runs in runs_of.items():
        if runs and not (options.programs / path.stem).is_file():
            fail(2, f"{options.programs / path.stem} is not a program: build it, or name the folder of the "
                    "programs by --programs")


def require_gpu():
    if torch is None:
        fail(3, "PyTorch is not installed: https://pytorch.org/get-started")
    if not importlib.util.find_spec("triton"):
        fail(3, "Triton is not installed, which PyTorch for GPUs brings along")
    if not torch.cuda.is_available():
        fail(3, "PyTorch finds no GPU")
    # A formula is compiled for each form, type and mode. Beyond a limit PyTorch would run it as written.
    torch._dynamo.config.recompile_limit = 64
    torch._dynamo.config.fail_on_recompile_limit_hit = True


def main():
    options = parse()
    runs_of, orders = chosen_runs(options)
    require_programs(options, runs_of)
    require_gpu()
    wrong = 0
    for path, runs in runs_of.items():
        stored = stored_peers(peers_of(path)) if options.shapes else []
        for run in runs:
            require_same_card(path, run["device"])
            sustained = size_of(run["shape"]) in options.sustained
            try:
                measured = measure(run, options.programs / path.stem, sustained)
            except ProgramFailed as failure:
                fail(failure.status, failure)
            except RuntimeError as error:  # such as one of CUDA, after which nothing can be timed
                fail(1, f"{path.stem} {size_of(run['shape'])}: {' '.join(str(error).split())[:300]}")
            say_all(measured)
            wrong += sum(stage["status"] == "wrong" for stage in measured["stages"])
            stored = replaced(stored, measured, orders[path])
            peers_of(path).write_text(json.dumps(stored, indent=1, allow_nan=False) + "\n")
            torch.cuda.empty_cache()
    if wrong:
        fail(1, f"{wrong} contenders are wrong, see above")


if __name__ == "__main__":
    interruptible(main)
