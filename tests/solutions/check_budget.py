"""Exercise 07.5: its kernels and its card are those of the committed data.

The instructions that its specification counts are rows of the table that plots/instructions.py made. The
clock, the bandwidth and the share of issue slots that it gives are those of the H200 whose measurements are
committed.
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

DATA = ROOT / "plots" / "data"
EXERCISE = ROOT / "solutions" / "07_gelu_dropout" / "5_budget"


def rows_of_table():
    """{(kernel, elements, instructions)}"""
    table = (DATA / "sm_90a" / "07_gelu_dropout_instructions.txt").read_text()
    found = re.findall(r"^(\S.*?) +(\d+) +(\d+) +[\d.]+$", table, re.M)
    return {(kernel, int(elements), int(instructions)) for kernel, elements, instructions in found}


def given(name):
    """The value of a constant that the reader is given."""
    text = (EXERCISE / "solution.cuh").read_text()
    found = re.findall(rf"\b{name} = ([\d.e]+)", text)
    expect(f"the exercise gives {name} once", len(found) == 1, found)
    return float(found[0])


def run_of(chapter):
    return next(run for run in json.loads((DATA / "h200" / f"{chapter}.json").read_text())
                if run["shape"] == [65536, 1024])


def stage_of(run, name):
    return next(stage for stage in run["stages"] if stage["name"] == name)


def main():
    specification = (EXERCISE / "check.cu").read_text()
    kernels = {(kernel, int(elements), int(instructions)) for kernel, elements, instructions
               in re.findall(r'\{"([^"]+)", (\d+), (\d+)\}', specification)}
    expect("the specification has five kernels", len(kernels) == 5, kernels)
    expect("they are rows of the table", kernels <= rows_of_table(), kernels - rows_of_table())

    run = run_of("04_relu_layernorm")
    clock = run["device"]["sm_clock_mhz"] * 1e6
    expect("the clock is the H200's highest", given("kClock") == clock, clock)
    rate = round(stage_of(run, "10_one_read")["gbytes_per_s"] / 1e3, 1) * 1e12
    expect("the bandwidth is that of stage 10 of chapter 04", given("kBandwidth") == rate, rate)
    instructions = given("kInstructionsWith1") * 65536 * 1024
    slots = 132 * 4 * 32 * clock * stage_of(run_of("07_gelu_dropout"), "02_fused")["time_us"]["median"] * 1e-6
    used = round(instructions / slots, 2)
    expect("the share of issue slots is that of stage 2", given("kUsed") == used, used)


main()
