"""Timelines of the warpgroups of a multiprocessor in stages of chapters 06 and 08: who copies, multiplies or
waits, and when, for plots/pictures_timelines.py.

Needs a Hopper GPU and two builds, one of them with marks in the kernels:

    cmake --preset hopper && ninja -C build-hopper 06_tensor_cores 08_attention
    git apply plots/timelines.patch
    cmake --preset hopper -B build-marks && ninja -C build-marks 06_tensor_cores 08_attention
    git apply --reverse plots/timelines.patch
    python3 plots/timelines.py build-marks/bin build-hopper/bin plots/data/h100/timelines/06_08.json

For each stage the file has the median time with and without marks, and the first blocks of multiprocessor 0
in the last launch: for each warpgroup, as one string, the cycles since the first mark, each followed by a
letter of DOING. Exit status 2: bad usage, or programs without marks; 3: no GPU.
"""

import datetime
import json
import os
import pathlib
import struct
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from card import card, run_of
from results import fail, interruptible

PRODUCTS, HEADS = "4096x1024x4096", "16x16x4096x4096x128"
STAGES = (("06_tensor_cores", "04_producer", PRODUCTS), ("06_tensor_cores", "06_persistent", PRODUCTS),
          ("06_tensor_cores", "08_tanh", PRODUCTS), ("06_tensor_cores", "09_tanh", PRODUCTS),
          ("08_attention", "14_wgmma", HEADS), ("08_attention", "15_overlap", HEADS),
          ("08_attention", "16_three_groups", HEADS))
DOING = "nwcmset"  # nothing, waits, copies, multiplies, softmax, epilogue, waits for its turn: enum Doing
BLOCKS, GROUPS, MARKS, KEPT = 64, 5, 1024, 4  # as in marks.sm90a.cuh; blocks of a stage that the file keeps


def time_of(program, size, stage):
    """The stage's median time, and the commit that the program was built from."""
    run = run_of(program, size, "--stage", stage)
    found = next(one for one in run["stages"] if one["name"] == stage)
    return round(found["time_us"]["median"], 2), run["commit"]


def last_launch(data):
    """The blocks of the last launch, in order: (blockIdx.x, the marks of each group)."""
    form = struct.Struct(f"<{2 + GROUPS}I4x{GROUPS * MARKS}Q")
    blocks = []
    for number, block, *rest in form.iter_unpack(data):
        counts, marks = rest[:GROUPS], rest[GROUPS:]
        groups = [marks[i * MARKS:i * MARKS + min(counts[i], MARKS)] for i in range(GROUPS)]
        if any(counts):
            blocks.append((number, block, groups))
    blocks.sort()
    last = []
    while blocks and (not last or blocks[-1][1] < last[0][0]):
        last.insert(0, blocks.pop()[1:])
    return last


def as_text(marks, start):
    return " ".join(f"{mark // 8 - start}{DOING[mark % 8]}" for mark in marks)


def marked(program, size, stage):
    """The marks of a stage, in the form of the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "marks"
        os.environ["WORKBOOK_MARKS"] = str(path)
        time, _ = time_of(program, size, stage)
        if not path.exists():
            fail(2, f"{program} has no marks: build it with plots/timelines.patch")
        blocks = last_launch(path.read_bytes())
    start = min(marks[0] for _, groups in blocks for marks in groups if marks) // 8
    kept = [{"block": block, "groups": [as_text(marks, start) for marks in groups if marks]}
            for block, groups in blocks[:KEPT]]
    return time, kept


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("marked", type=pathlib.Path, help="folder of the programs with marks")
    parser.add_argument("plain", type=pathlib.Path, help="folder of those without")
    parser.add_argument("json", type=pathlib.Path)
    arguments = parser.parse_args()
    stages = []
    for chapter, stage, size in STAGES:
        plain, commit = time_of(arguments.plain / chapter, size, stage)
        time, blocks = marked(arguments.marked / chapter, size, stage)
        print(f"{stage}: {plain} us, with marks {time} us")
        stages.append({"chapter": chapter, "stage": stage, "size": size, "time_us": plain,
                       "time_us_with_marks": time, "blocks": blocks})
    about = {**card(), "date": str(datetime.date.today()), "commit": commit}
    arguments.json.write_text(json.dumps({**about, "stages": stages}, indent=1) + "\n")


if __name__ == "__main__":
    interruptible(main)
