"""Pictures of who copies, multiplies or waits, from the clocks that plots/timelines.py read on a GPU.

plots/diagrams.py draws them with all others.
"""

import json
import re

from diagrams import LEFT, ROOT, WIDTH, Picture, require

PATH = ROOT / "plots" / "data" / "h100" / "timelines" / "06_08.json"
ROWS, RIGHT, ROW = 84, WIDTH - LEFT, 20  # where rows begin and end, and their distance
KINDS = {"m": "blue", "e": "orange", "s": "orange", "w": "idle", "t": "idle"}  # "c" is a tick, "n" nothing
NARROW, TICK = 0.4, 1.5  # pixels: narrower spans are not drawn; the width of a tick


def timelines():
    return json.loads(PATH.read_text())


def stage_of(data, name):
    return next(stage for stage in data["stages"] if stage["stage"] == name)


def spans(group):
    """[(start, end, letter)] of a warpgroup's marks, in cycles."""
    marks = [(int(cycle), letter) for cycle, letter in re.findall(r"(\d+)(\w)", group)]
    return [(start, end, letter) for (start, letter), (end, _) in zip(marks, marks[1:])]


def groups_of(stage):
    """The spans of each warpgroup over all blocks, the producer's first."""
    of_groups = [[] for _ in stage["blocks"][0]["groups"]]
    for block in stage["blocks"]:
        for group, text in zip(of_groups, block["groups"]):
            group += spans(text)
    return sorted(of_groups, key=lambda group: not any(letter == "c" for _, _, letter in group))


def share_with(groups, letter, start, end):
    """The share of the cycles from `start` to `end` in which a group does what the letter stands for."""
    covered, at = 0, start
    for first, last, _ in sorted(span for group in groups for span in group if span[2] == letter):
        first, last = max(first, at), min(last, end)
        covered += max(last - first, 0)
        at = max(at, last)
    return covered / (end - start)


def draw_rows(picture, top, groups, names, window):
    """A row for each group of what it does within the window; returns where they end."""
    start, end = window
    unit = (RIGHT - ROWS) / (end - start)
    for number, (name, group) in enumerate(zip(names, groups)):
        y = top + ROW * number
        picture.right_text(ROWS - 8, y + 8, name, "", 10)
        for first, last, letter in group:
            first, last = max(first, start), min(last, end)
            if letter == "c" and first < last:
                picture.box(ROWS + (first - start) * unit, y, TICK, 16, "blue-dot", 0)
            elif letter in KINDS and (last - first) * unit > NARROW:
                picture.box(ROWS + (first - start) * unit, y, (last - first) * unit, 16, KINDS[letter], 0)
    return top + ROW * len(names)


def draw_stages(title, window, parts, legend, notes):
    """Each part is a stage, a heading and the names of its rows. notes() makes a sentence of what the
    stage's consumers do within the window, which is the first and the last cycle."""
    data = timelines()
    picture = Picture(title, 50 + sum(ROW * len(names) + 48 for _, _, names in parts) + 14 * len(legend))
    y = 14
    for name, heading, names in parts:
        stage = stage_of(data, name)
        groups = groups_of(stage)
        require(len(groups) == len(names), f"{name} has {len(groups)} warpgroups")
        picture.heading(LEFT, y, heading)
        bottom = draw_rows(picture, y + 13, groups, names, window)
        times = f"{stage['time_us']:.1f} µs; with marks {stage['time_us_with_marks']:.1f} µs."
        picture.left_text(ROWS, bottom + 8, f"{notes(groups[1:], window)} {times}", "dim", 9)
        y = bottom + 35
    for line in legend:
        picture.left_text(LEFT, y - 6, line, "", 9)
        y += 14
    cycles = (window[1] - window[0]) // 1000
    picture.left_text(LEFT, y - 6, f"Time runs to the right: {cycles},000 cycles of one multiprocessor of an "
                      f"{data['gpu'].split()[1]}, {data['date']}.", "dim", 9)
    return picture


CYCLES_OF_TILE = 8192  # of 64 x 256 or 128 x 128 results, 1024 products each, at 4 x 512 per cycle


def products_run(groups, window):
    return f"Products run {share_with(groups, 'm', *window):.0%} of the time."


def full_rate(groups, window):
    """As products_run, and how long they would take at full rate: a group's span is a tile's products."""
    start, end = window
    tiles = sum((min(last, end) - max(first, start)) / (last - first) for group in groups
                for first, last, letter in group if letter == "m" and first < end and last > start)
    share = tiles * CYCLES_OF_TILE / (end - start)
    return f"Products run {share_with(groups, 'm', *window):.0%}, at full rate {share:.0%}."


def draw_timeline_persistent(programs):
    return draw_stages(
        "Stages 4 and 6, measured", (0, 53000),
        [("04_producer", "Stage 4: a block per tile, 128 × 128", ("producer", "consumer")),
         ("06_persistent", "Stage 6: a block that stays, 128 × 256",
          ("producer", "consumer 0", "consumer 1"))],
        ("Blue ticks: a pair of tiles is ordered. Blue: products. Orange: stores.",
         "Dashed: waits for tiles; the short ones are mostly the cost of the marks."),
        products_run)


def draw_timeline_ping_pong(programs):
    rows = ("producer", "group 0", "group 1")
    return draw_stages(
        "Stages 8 and 9, measured", (0, 53000),
        [("08_tanh", "Stage 8: both multiply, then both compute GELU", rows),
         ("09_tanh", "Stage 9: one multiplies while the other computes GELU", rows)],
        ("Blue ticks: a pair of tiles is ordered. Blue: products. Orange: GELU and stores.",
         "Empty: loads the bias. Dashed: waits for its turn, or, if short, sets marks."),
        full_rate)


def draw_timeline_attention(programs):
    consumers = ("consumer 0", "consumer 1", "consumer 2")
    return draw_stages(
        "Stages 14, 15 and 16, measured", (20000, 36000),
        [("14_wgmma", "Stage 14: scores, softmax, product with v", ("producer", *consumers[:2])),
         ("15_overlap", "Stage 15: the next scores come early", ("producer", *consumers[:2])),
         ("16_three_groups", "Stage 16: three consumers", ("producer", *consumers))],
        ("Blue ticks: keys or values are ordered. Orange: softmax. Blue: waits for products.",),
        lambda groups, window: f"A softmax runs {share_with(groups, 's', *window):.0%} of the time.")


PICTURES = {
    "timeline_persistent": draw_timeline_persistent,
    "timeline_ping_pong": draw_timeline_ping_pong,
    "timeline_attention": draw_timeline_attention,
}
