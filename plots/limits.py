"""Profiles the stages of a chapter with Nsight Compute: what limits each, for the lessons to quote.

Needs a GPU, ncu and a build with its GPU side:

    python3 plots/limits.py build/bin/03_quantize_int8 1x10000000 limits.json [STAGE ...]

Each stage runs once on that size, with caches flushed by ncu before each kernel; without names, all stages
that this GPU has. Exit status 2: bad usage, or a file that is not what it should be; 3: no ncu or no GPU.
"""

import datetime
import json
import pathlib
import re
import shutil
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from card import card, profiled, ready_stages
from results import BadFile, fail, interruptible, load

METRICS = {
    "time_ns": "gpu__time_duration.sum",
    "instructions": "smsp__inst_executed.sum",  # of warps
    "issue_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "fma_percent": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "l1_percent": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l2_percent": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "warps_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "tensor_percent": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "cycles": "sm__cycles_elapsed.max",  # with the time, the clock
    "l2_sectors": "lts__t_sectors_srcunit_tex.sum",  # that multiprocessors request and write
    "dram_read_bytes": "dram__bytes_read.sum",
}
STALLS = ("barrier", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard",
          "math_pipe_throttle", "membar", "mio_throttle", "no_instruction", "short_scoreboard", "sleeping",
          "wait")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def kernel_name(signature):
    """The bare name of a function, of a template too."""
    bare, found = signature, 1
    while found:  # innermost arguments first
        bare, found = re.subn(r"<[^<>]*>", "", bare)
    return re.match(r"(?:void )?(?:\w+::)*(\w+)", bare).group(1)


def profile(program, size, stage):
    """The kernels of the stage, in order."""
    stalls = {STALL.format(stall): stall for stall in STALLS}
    fields = {metric: field for field, metric in METRICS.items()}
    kernels = []
    call = [program, "--device", "gpu", "--once", "--size", size, "--stage", stage]
    for signature, values in profiled([*fields, *stalls], *call):
        kernel = {"kernel": kernel_name(signature), "stalls": {}}
        for metric, value in values.items():
            if metric in stalls:
                kernel["stalls"][stalls[metric]] = value
            else:
                kernel[fields[metric]] = value
        kernels.append(kernel)
    return kernels


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="a chapter")
    parser.add_argument("size", help="as its --size")
    parser.add_argument("output", type=pathlib.Path, help="a JSON file; other sizes in it are kept")
    parser.add_argument("stages", nargs="*", help="names of stages")
    arguments = parser.parse_args()

    if not shutil.which("ncu"):
        fail(3, "ncu is not installed: it is part of the CUDA Toolkit")
    program = arguments.program.resolve()
    if not program.is_file():
        fail(2, f"{arguments.program} is not a program; build/bin/03_quantize_int8 is one once it is built")
    try:
        result = load(arguments.output) if arguments.output.exists() else {}
    except BadFile as error:
        fail(2, f"not what an earlier call has stored: {error}")
    result[arguments.size] = {
        **card(), "date": datetime.date.today().isoformat(),
        "command": f"python3 plots/limits.py build/bin/{program.name} {arguments.size} "
                   f"{arguments.output.name}",
        "stages": {stage: profile(program, arguments.size, stage)
                   for stage in arguments.stages or ready_stages(program, arguments.size)}}
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


interruptible(main)
