"""Compares the counts of `./workbook play` with a GPU's, for CUDA files that have a main of their own.

    python3 tests/program_counters.py [FILE.cu ...]

Needs nvcc, ncu, a GPU whose counters this user may read, and a tree in which `./workbook play` works. Each
file is compiled with nvcc, counted with ncu (the metrics of tests/counters.py) and played. Launches of one
kernel are added up; there is a row for each kernel. The exit status is 1 if a count differs by more than
docs/cpu_device.md allows. Instructions, DRAM bytes and what L1 and L2 caught are not compared: the CPU device
does not count them, or only as an estimate.

For a machine with a GPU and another one that plays: on the first, `--ncu DIR --only-ncu` stores what ncu
says; on the second, `--ncu DIR` reads it.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))
from card import launches_in, ncu_csv, output_of
from counters import METRICS

FILES = [ROOT / "docs" / "saxpy.cu", *sorted((ROOT / "tests" / "data" / "programs").glob("*.cu"))]
NVCC_FLAGS = ("-std=c++17", "-O3", "--extended-lambda", "--expt-relaxed-constexpr")
NOISE = 0.03  # of all shared wavefronts: accesses that the hardware had to repeat

GLOBAL = ("load_requests", "load_sectors", "store_requests", "store_sectors")
SHARED = ("shared_load_wavefronts", "shared_store_wavefronts")
ATOMIC = ("atomic_sectors",)
FIELDS = GLOBAL + SHARED + ATOMIC
HEADINGS = ("load req", "sectors", "store req", "sectors", "sh. loads", "sh. stores", "atomics")

# What cannot be compared, by file and kernel: which fields, and why.
NOT_COMPARED = {
    "features/constants": (FIELDS, "printf stores what it prints in device memory"),
    "runtime/make": (FIELDS, "malloc in a kernel accesses device memory, which the CPU device leaves out"),
    "runtime/measure": (FIELDS, "malloc in a kernel accesses device memory, which the CPU device leaves out"),
    "cooperative/both": (GLOBAL[:2] + SHARED + ATOMIC,
                         "on a GPU, grid.sync() polls in device memory, and the compiler loads s once"),
    "cooperative/first": (SHARED, "the compiler removes stores that nobody reads"),
    "cooperative/second": (SHARED[:1], "the compiler loads s once, before the loop"),
    "ptx/by_bfloat16": (("load_sectors", "shared_store_wavefronts"),
                        "copies that end in zeros, or of 16 bytes through L1, cost what is not known"),
    "ptx/hand_over": (GLOBAL[:2], "a thread polls until another has stored"),
    "groups/of_large_tile": (SHARED[:1], "on a GPU, a tile of several warps meets in shared memory"),
    "groups/reverse_by_barrier": (GLOBAL[:2] + SHARED,
                                  "a cuda::barrier is in shared memory, and sm_90 copies in bulk for it"),
}


def base_name(kernel):
    """`f` of `void n::f<int, (bool)1>(const int *)`, as ncu has it, and of `f<int, true>`, as `play` does."""
    kernel = re.sub(r"\((anonymous namespace|anonymous class)\)|<unnamed>|\(bool\)", "", kernel)
    return re.split(r"::|[ *&]", re.split("[<(]", kernel)[0])[-1]


def summed(launches):
    """{kernel: the sums of its launches' counts} from pairs."""
    kernels = collections.defaultdict(collections.Counter)
    for name, counts in launches:
        kernels[base_name(name)].update(counts)
    return kernels


def counts_of_gpu(output):
    """{kernel: its counts} from what ncu printed, under the names of the CPU device."""
    launches = []
    for name, values in launches_in(output):
        counts = {field: int(values[metric]) for field, metric in METRICS.items()}
        counts["shared_store_wavefronts"] += counts["async_shared_wavefronts"]
        counts["atomic_sectors"] += counts["reduction_sectors"]
        launches.append((name, {"launches": 1, **{field: counts[field] for field in FIELDS}}))
    return summed(launches)


MARKS = ("approximate", "contended", "shared_loads_may_merge")


def counts_of_cpu(report):
    """The same from the JSON of `play`, with the number of launches that have each mark."""
    launches = []
    for launch in report["launches"]:
        times = launch.get("times", 1)
        counts = {field: times * launch[field] for field in (*FIELDS, *MARKS)}
        launches.append((launch["kernel"], {"launches": times, **counts}))
    return summed(launches)


# --- The comparison ---


def left_out(key, ours):
    """The fields of a kernel that are not compared, and the reasons."""
    fields, reason = NOT_COMPARED.get(key, ((), ""))
    fields, reasons = set(fields), [reason] if reason else []
    if ours["approximate"]:
        fields |= set(GLOBAL + SHARED)
        reasons.append("approximate")
    if ours["contended"]:
        fields |= set(ATOMIC)
        reasons.append("lanes of a warp update one address")
    return fields, reasons


def agrees(field, ours, theirs):
    """Whether a count is as near to the hardware's as tests/cpu_device/hardware_counters.hpp wants it."""
    excess = ours[field] - theirs[field]
    if field not in SHARED:
        return excess == 0
    noise = NOISE * sum(theirs[each] for each in SHARED)
    may_be_more = field == "shared_load_wavefronts" and ours["shared_loads_may_merge"]
    return -noise <= excess and (excess <= noise or may_be_more)


def cell(field, ours, theirs):
    same = ours[field] == theirs[field]
    return str(ours[field]) if same else f"{ours[field]}/{theirs[field]}"


def row(key, ours, theirs):
    """The text of a kernel's row, and whether all that is compared agrees."""
    if not theirs or not ours:
        return f"{key:34} DIFFERS: only {'the GPU' if theirs else 'the CPU device'} has launched it", False
    fields, reasons = left_out(key, ours)
    wrong = [field for field in FIELDS if field not in fields and not agrees(field, ours, theirs)]
    if ours["launches"] != theirs["launches"]:
        wrong.insert(0, f"{ours['launches']} launches, the GPU {theirs['launches']}")
    verdict = f"DIFFERS: {', '.join(wrong)}" if wrong else "ok" if len(fields) < len(FIELDS) else "skipped"
    if reasons:
        names = "all" if len(fields) == len(FIELDS) else ", ".join(each for each in FIELDS if each in fields)
        verdict += f"; not compared: {names} ({'; '.join(reasons)})"
    cells = " ".join(f"{cell(field, ours, theirs):>13}" for field in FIELDS)
    return f"{key:34} {ours['launches']:4} {cells}  {verdict}", not wrong


def compare(file, report, output):
    """Prints a row for each kernel of a file. Returns whether it has kernels, and all agree."""
    ours, theirs = counts_of_cpu(report), counts_of_gpu(output)
    kernels = sorted(ours.keys() | theirs.keys())
    rows = [row(f"{file.stem}/{kernel}", ours.get(kernel), theirs.get(kernel)) for kernel in kernels]
    for text, _ in rows:
        print(text, flush=True)
    if not rows:
        print(f"{file.stem}: no kernel was counted")
    return bool(rows) and all(right for _, right in rows)


# --- Running ---


def find_nvcc():
    return "nvcc" if any(pathlib.Path(folder, "nvcc").exists() for folder in os.environ["PATH"].split(":")) \
        else "/usr/local/cuda/bin/nvcc"


def counted_by_ncu(file, architecture):
    """What ncu prints about the file's program."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / file.stem
        output_of(find_nvcc(), *NVCC_FLAGS, f"-arch={architecture}", "-o", program, file)
        return ncu_csv(METRICS.values(), program)


def ncu_output(file, options):
    stored = options.ncu / f"{file.stem}.csv" if options.ncu else None
    if stored and stored.exists():
        return stored.read_text()
    output = counted_by_ncu(file, options.arch)
    if stored:
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(output)
    return output


def played(file, workbook):
    done = subprocess.run([workbook, "play", file, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"program_counters.py: play {file} ends with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=FILES, metavar="FILE.cu")
    parser.add_argument("--arch", default="native", help="for nvcc (default: native)")
    parser.add_argument("--ncu", type=pathlib.Path, metavar="DIR",
                        help="where ncu's output of each file is stored, or read if it is there")
    parser.add_argument("--only-ncu", action="store_true", help="plays and compares nothing")
    parser.add_argument("--workbook", type=pathlib.Path, default=ROOT / "workbook", metavar="PROGRAM")
    options = parser.parse_args()
    if options.only_ncu:
        if not options.ncu:
            parser.error("--only-ncu needs --ncu DIR")
        for file in options.files:
            ncu_output(file, options)
        return
    print(f"{'kernel':34} {'runs':>4} {' '.join(f'{each:>13}' for each in HEADINGS)}\n"
          "A count is the CPU device's, or CPU/GPU where they differ.")
    verdicts = [compare(file, played(file, options.workbook), ncu_output(file, options))
                for file in options.files]
    print(f"{sum(verdicts)} of {len(verdicts)} files agree")
    sys.exit(0 if all(verdicts) else 1)


if __name__ == "__main__":
    main()
