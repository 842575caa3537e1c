"""tests/program_counters.py with programs that only pretend: what it compares, and its exit status."""

import json
import pathlib
import sys
import tempfile

from checks import ROOT, expect, missing, run
from counters import METRICS
from program_counters import FIELDS, base_name

SCRIPT = ROOT / "tests" / "program_counters.py"
COUNTS = {field: 0 for field in FIELDS} | {"load_requests": 32, "load_sectors": 125, "store_requests": 32,
                                           "store_sectors": 125, "shared_load_wavefronts": 100,
                                           "shared_store_wavefronts": 100}
NO_MARKS = {"approximate": False, "contended": False, "shared_loads_may_merge": False}


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def ncu_rows(kernels):
    """The CSV of one launch each, with a program's output before it."""
    rows = [f'"{number}","{name}","{metric}","{counts.get(field, 0):,}"'
            for number, (name, counts) in enumerate(kernels) for field, metric in METRICS.items()]
    return "\n".join(["x is 3", '"ID","Kernel Name","Metric Name","Metric Value"', *rows]) + "\n"


def check(what, on_cpu, on_gpu, status, *texts, stem="mine", arguments=()):
    """`on_cpu` are launches as `play --json` has them, `on_gpu` pairs of a name and counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / f"{stem}.cu"
        file.write_text("")
        (folder / "play.json").write_text(json.dumps({"launches": on_cpu}))
        (folder / "ncu.csv").write_text(ncu_rows(on_gpu))
        program(folder / "workbook", f'[ "$1 $3" = "play --json" ] && cat {folder}/play.json')
        program(folder / "nvcc", "exit 0")
        program(folder / "ncu", f"echo called >> {folder}/calls; cat {folder}/ncu.csv")
        words = [str(each).replace("FOLDER", name) for each in arguments]
        env = {"PATH": f"{folder}:/usr/bin:/bin"}
        done = [run(sys.executable, SCRIPT, file, "--workbook", folder / "workbook", *words, env=env)
                for _ in range(2)][-1]
        lacking = missing(texts, done.stdout)
        expect(what, done.returncode == status and not lacking,
               f"exit status {done.returncode}, missing {lacking}:\n{done.stdout}{done.stderr}")
        return (folder / "calls").read_text().count("called")


def cpu(kernel="f<int>", times=1, marks=(), **changes):
    marked = NO_MARKS | {mark: True for mark in marks}
    return {"kernel": kernel, "times": times, **marked, **COUNTS, **changes}


def gpu(kernel="void n::f<int>(int *)", **changes):
    return kernel, COUNTS | changes


for theirs, ours in (("void n::f<int, (bool)1>(const int *, T2)", "f"), ("f<{lambda(float)#1}>", "f"),
                     ("<unnamed>::g(int *)", "g"), ("(anonymous namespace)::g(int *)", "g"), ("h", "h"),
                     ("void apply<main::[lambda(float) (instance 1)]>(float *, int, T1)", "apply")):
    expect(f"the name in {theirs}", base_name(theirs) == ours, base_name(theirs))

check("the same counts", [cpu()], [gpu()], 0, "mine/f 1 32 125 32 125 100 100 0 ok", "1 of 1 files agree")
check("launches of a kernel are added up", [cpu(times=2), cpu("f<char>")], [gpu(), gpu("f(char)"), gpu()], 0,
      "mine/f 3 96 375")
check("one sector too many", [cpu()], [gpu(load_sectors=124)], 1, "125/124", "DIFFERS: load_sectors",
      "0 of 1 files agree")
check("another number of launches", [cpu(times=2)], [gpu()], 1, "2 launches, the GPU 1")
check("a kernel that is not there", [cpu()], [gpu(), gpu("other(int)")], 1,
      "mine/other DIFFERS: only the GPU has launched it")
check("no kernel", [], [], 1, "no kernel was counted")
check("wavefronts that were repeated", [cpu()], [gpu(shared_load_wavefronts=106)], 0, "100/106")
check("... too often", [cpu()], [gpu(shared_load_wavefronts=107)], 1, "DIFFERS: shared_load_wavefronts")
check("asynchronous copies are stores", [cpu()],
      [gpu(shared_store_wavefronts=40, async_shared_wavefronts=60)], 0, "100 100 0 ok")
check("reductions are atomics", [cpu(atomic_sectors=7)], [gpu(atomic_sectors=3, reduction_sectors=4)], 0,
      "100 100 7 ok")
check("loads that nvcc has merged", [cpu(marks=["shared_loads_may_merge"])], [gpu(shared_load_wavefronts=50)],
      0, "100/50", "ok")
check("... are not more", [cpu(marks=["shared_loads_may_merge"])], [gpu(shared_load_wavefronts=150)], 1)
check("contended atomics", [cpu(marks=["contended"], atomic_sectors=1)], [gpu(atomic_sectors=9)], 0,
      "ok; not compared: atomic_sectors (lanes of a warp update one address)")
check("approximate counts", [cpu(marks=["approximate"])], [gpu(load_sectors=9)], 0, "(approximate)")
check("... and the others", [cpu(marks=["approximate"], atomic_sectors=1)], [gpu()], 1,
      "DIFFERS: atomic_sectors")
check("a kernel that is not compared", [cpu("constants", load_sectors=1)], [gpu("constants(float *)")], 0,
      "features/constants", "skipped; not compared: all (printf", stem="features")
STORE = ("--ncu", "FOLDER/stored")
calls = check("ncu's output is stored, and read", [cpu()], [gpu()], 0, "1 of 1", arguments=STORE)
expect("... without another run of ncu", calls == 1, calls)
check("only ncu", [cpu(load_sectors=1)], [gpu()], 0, arguments=(*STORE, "--only-ncu"))
