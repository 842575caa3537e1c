"""The quotation `counts` of docs/update.py shows what the program's own table shows.

python3 tests/docs/check_counts.py FOLDER, with the programs
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

sys.path.insert(0, str(ROOT / "docs"))
import update

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()


def printed_rows(program, *options):
    """The words of each row of the table that a program prints."""
    printed = update.output(" ".join([program, "--device cpu", *options]), PROGRAMS)
    return {line.split()[0]: line.split() for line in printed.splitlines() if line[:1].isdigit()}


def compare(program, stages, *options):
    printed = printed_rows(program, *options)
    quoted = update.counts(" ".join([program, *options, *stages]), PROGRAMS).splitlines()[2:]
    expect(f"{program}: as many rows as stages", len(quoted) == len(stages), quoted)
    for stage, row in zip(stages, quoted):
        name, kernels, read, write, load, store, _, _, waves = row.split()
        row_of_program = printed[stage]
        same = (row_of_program[:4] == [name, kernels, read, write]
                and row_of_program[5:8] == [load, store, waves])
        expect(f"{program} {stage}: the numbers of the program's table", same, f"{row}\n{row_of_program}")


compare("00_first_kernel", ["01_one_block", "03_grid"])
compare("01_multiply_add", ["02_fused", "05_reduced"], "--size", "4096")
compare("02_add_mul_exp", ["02_fused", "08_many"])  # which may launch any number of kernels

stages = "05_linear_gelu --size 128x64x128 02_coalesced 04_tiles"
rows = update.product_counts(stages, PROGRAMS).splitlines()[2:]
begins = all(row.startswith(one) for row, one in zip(rows, update.counts(stages, PROGRAMS).splitlines()[2:]))
expect("32 multiplications of stage 4 take two loads, one wavefront each, and a sixteenth of a store",
       begins and [row.split()[-1] for row in rows] == ["-", "2.06"], rows)

rows = update.counts("01_multiply_add 02_fused 03_float4", PROGRAMS).splitlines()[2:]
requests = [row.split()[6:8] for row in rows]
expect("a warp of stage 2 has 3 loads and a store for 32 elements, one of stage 3 for 128",
       requests == [["3.00", "1.00"], ["0.75", "0.25"]], rows)
