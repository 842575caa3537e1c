"""Answers to the paper exercises of chapter 06: computed by the rules of the code, and found in the page."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

sys.path.insert(0, str(ROOT / "plots"))
from pictures_tensor_cores import (BANKS, CHUNK, WORD, Scheduler, constant, deadlocks, ping_pong,
                                   pipeline_size, ring_states, source, swizzle_row_bytes, swizzled)

PAGE = (ROOT / "docs" / "06_tensor_cores.md").read_text()
WARPS = 4  # of a warpgroup


def answer(number):
    section = PAGE.split(f"\n### Paper {number}: ")[1].split("\n#")[0]
    return " ".join(re.search(r"<summary>Answer</summary>\n(.*?)</details>", section, re.S)[1].split())


def worked_out(beginning):
    """The answer to a question that stands before the code of a stage."""
    question = rf"<summary>Work it out first: {beginning}[^\n]*</summary>\n"
    found = re.search(rf"{question}(.*?)</details>", PAGE, re.S)
    expect(f"the page has the question '{beginning}'", found)
    return " ".join(found[1].split())


def check(number, what, *texts):
    missing = [text for text in texts if text not in answer(number)]
    expect(f"paper exercise {number}: {what}", not missing, f"{missing} not in: {answer(number)}")


def check_swizzle():
    row, column = 13, 50
    chunk, within = divmod(column * 2, CHUNK)  # bfloat16 has 2 bytes
    place = swizzled(row, chunk)
    first = place * CHUNK // WORD % BANKS
    inverse = next(c for c in range(swizzle_row_bytes() // CHUNK) if swizzled(row, c) == 0)
    last = first + CHUNK // WORD - 1
    check(1, "places in a swizzled tile", f"position {place}, in banks {first} to {last}",
          f"= {row * swizzle_row_bytes() + place * CHUNK + within}, in bank {first + within // WORD}.",
          f"Position 0 holds chunk {inverse}")


def check_parities():
    stages, step = 4, 22
    expect("the ring of stage 4 has four stages", pipeline_size("Pipeline128x128")[2] == stages)
    stage, parity = ring_states(stages, step + 1)[step]
    check(2, "parities of a ring", f"buffer {stage}", f"consumer waits for parity {parity}",
          f"producer for parity {parity ^ 1}")


def check_deadlocks():
    steps = 100
    expect("the ring of the code does not deadlock", not deadlocks(4, steps))
    rings = [deadlocks(4, steps, first_parity=0), deadlocks(4, steps, arrivals=2 * WARPS),
             deadlocks(4, steps, late=1), deadlocks(1, steps, late=1)]
    expect("rings 1, 2 and 4 deadlock", rings == [True, True, False, True], rings)
    check(3, "which rings deadlock", "Rings 1, 2 and 4 deadlock; ring 3 does not")
    expect("... ring 2 after its 4 stages are filled",
           not deadlocks(4, 4, arrivals=2 * WARPS) and deadlocks(4, 5, arrivals=2 * WARPS))


def check_shares():
    clusters, steps, pairs = 132 // 2, 8192 // 64, (8192 // 256) ** 2
    scheduler = Scheduler(clusters, steps, pairs)
    expect("34 pairs of 128 steps are shared", scheduler.shared_steps == 34 * 128, scheduler.shared_steps)
    (pair, first, last), (other, first_of_other, last_of_other) = scheduler.parts(1)
    check(4, "shares of stream-K", f"{scheduler.shared_steps} steps in all",
          f"steps {scheduler.start_of(1)} to {scheduler.start_of(2) - 1}",
          f"the steps {first} to {last - 1} of pair {pair} "
          f"and {first_of_other} to {last_of_other - 1} of pair {other}")


def check_registers():
    wide = source("09_wide.sm90a.cuh")
    consumer, producer = (constant(wide, f"k{role}Registers") for role in ("Consumer", "Producer"))
    each = 65536 // 384 // 8 * 8  # of a multiprocessor's, in eights
    left = 3 * each - 2 * consumer
    expect("the producer of 09_wide keeps what is left", left == producer, left)
    check(5, "a register budget", f"3 × {each} - 2 × {consumer} = {left}", f"only {3 * each - 32} are left")


def check_tiles_of_blocks():
    rows, columns, _ = pipeline_size("Pipeline128x256")
    tiles = (4096 // rows) * (4096 // columns)
    first, last = ([str(tile) for tile in range(block, tiles, 132)] for block in (5, 131))
    says = worked_out(f"4096 × 4096 has {tiles} tiles")
    expect("which tiles a persistent block has", f"{', '.join(first[:-1])} and {first[-1]};" in says
           and f"{', '.join(last[:-1])} and {last[-1]}." in says, (says, first, last))


def check_bytes_of_barriers():
    depth = swizzle_row_bytes() // 2  # elements of bfloat16
    rows, columns, _ = pipeline_size("Pipeline128x128")
    says = worked_out(f"a buffer holds a tile of x and one of w, {rows} × {depth} each")
    total = (rows + columns) * depth * 2
    expect("the bytes of a stage", f"2 × {rows} × {depth} × 2 = {total} bytes" in says, says)
    rows, columns, _ = pipeline_size("Pipeline128x256")
    of_x, of_w = (count * depth * 2 // 1024 for count in (rows, columns))
    says = worked_out(f"each block requests {of_x + of_w // 2} KiB per step")
    expect("... of a stage in a cluster", f"{of_x + of_w} KiB: {of_x} of x and {of_w} of w" in says, says)


def check_bias_of_lane():
    rule = "const int mine = column + 2 * j + threadIdx.x % 4 * 2;"
    expect("the epilogue has the rule of the page", rule in source("08_tma_epilogue.sm90a.cuh"))
    column, row = 6 % 4 * 2, 6 // 4
    says = worked_out("to begin its sums")
    expect("which biases a lane needs", f"Columns {column} and {column + 1}," in says
           and f"two rows, {row} and {row + 8}" in says, says)


def check_ping_pong():
    tiles = ping_pong(4, 6, 8)
    lost = [later[2] - earlier[3] for earlier, later in zip(tiles, tiles[1:])]
    says = worked_out("the products of a tile take 6 units of time, its epilogue 8")
    expect("what a long epilogue costs", lost == [0, 2, 0] and "2 units are lost for every two tiles" in says,
           (lost, says))


def check_ping_pong_ring():
    steps, stages = 16, pipeline_size("PingPongPipeline")[2]
    stage, parity = ring_states(stages, 2 * steps + 1)[2 * steps]
    says = worked_out(f"a tile has {steps} steps, the ring {stages} buffers")
    expect("where a group starts in the ring",
           f"buffer {stage}, in round {2 * steps // stages}, so parity {parity}" in says, says)
    rule = "wait(&may_multiply[group], (local_tile / 2 + 1 - group) % 2);"
    expect("stage 9 has the rule of the page", rule in source("09_ping_pong.sm90a.cuh"))
    parities = ", ".join(str((tile // 2 + 1 - tile % 2) % 2) for tile in range(6))
    expect("the parities of the turns", f"Tiles 0 to 5 wait for the parities {parities}." in PAGE, parities)
    tile_of_phase = [(phase * stages + stage) // steps for phase in range(6)]
    expect("phases 3 and 4 of that buffer are of tile 1, phase 5 of tile 2",
           tile_of_phase == [0, 0, 0, 1, 1, 2], tile_of_phase)


check_swizzle()
check_parities()
check_deadlocks()
check_shares()
check_registers()
check_bytes_of_barriers()
check_tiles_of_blocks()
check_bias_of_lane()
check_ping_pong()
check_ping_pong_ring()
