"""The pictures of chapter 04, which plots/diagrams.py draws with those of the other lessons.

The accesses of a block to shared memory come from traces and counts of the CPU device. The numbers of the
merge are computed here by the rule of the code and checked against two passes; limits of rows come from
constants of the code.
"""

import re

from diagrams import FLOAT, INNER, LEFT, ROOT, WARP, WIDTH, Picture, lanes_of, requests_of, require

CHAPTER = "04_relu_layernorm"
FOLDER = ROOT / "chapters" / CHAPTER
KIB = 1024


def constant(file, name):
    """An integer that a source defines, "NAME = 123"."""
    found = re.search(rf"\b{name} = (\d+)\b", (FOLDER / file).read_text())
    require(found, f"{file} has no {name}")
    return int(found[1])


def function_of(path, name):
    """The text of a function, from its name to the brace that ends it."""
    found = re.search(rf"\b{name}\(.*?^\}}$", path.read_text(), re.S | re.M)
    require(found, f"{path.name} has no {name}()")
    return found[0]


# --- Adding up a block, in two ways ---


def tree_rounds(launch):
    """How many sums of the first warp each round of 03_tree adds, from its loads in shared memory."""
    loads = requests_of(launch, operation="load", space="shared", array="sums")
    return [min(lanes_of(one).values()) // FLOAT for one in loads[:-1]]  # the last load reads the result


def barriers(path, name, rounds):
    """Those of one call: of a function with a loop, the second barrier from the end is in the loop."""
    body = function_of(path, name)
    before, _, after = body.partition("for (")
    return before.count("__syncthreads()") + rounds * after.count("__syncthreads()")


def draw_tree_or_shuffles(programs):
    size, threads = "1x256", 256
    tree, = programs.trace(CHAPTER, size, "03_tree")
    shuffles, = programs.trace(CHAPTER, size, "04_shuffles")
    rounds = tree_rounds(tree)
    require(rounds == [threads >> i for i in range(1, 9)], "03_tree adds in other rounds")
    stored, loaded = requests_of(shuffles, space="shared", array="sums")
    warps = len(lanes_of(loaded))
    require(len(lanes_of(stored)) == 1 and warps == threads // WARP, "04_shuffles shares other sums")
    rule = (FOLDER / "04_shuffles.cuh").read_text()
    require("for (int distance = 16; distance > 0; distance /= 2)" in rule, "sum_of_warp() has other steps")
    cost = {}
    for stage, path, name, steps in (
            ("03_tree", FOLDER / "03_tree.cuh", "block_sum", len(rounds)),
            ("04_shuffles", FOLDER / "04_shuffles.cuh", "sum_of_block", 0)):
        cost[stage] = (barriers(path, name, steps), programs.counts(CHAPTER, size, stage)["shared_requests"])

    picture, right, top = Picture("Adding up 256 threads: a tree, or shuffles", 300), 218, 44
    picture.heading(LEFT, 15, "Stage 3: a tree")
    picture.left_text(LEFT, 31, "each round ends with a barrier", "dim", 10)
    for i, adding in enumerate(rounds):
        y, wide = top + 23 * i, max(adding / rounds[0] * 118, 2)
        picture.box(LEFT, y, wide, 13, "blue", 0)
        picture.left_text(LEFT + wide + 5, y + 6.5, f"{adding} add" if adding > 1 else "1 adds", "", 9)
        picture.box(LEFT, y + 15, 160, 3, "orange", 0)
    picture.heading(right, 15, "Stage 4: shuffles")
    picture.left_text(right, 31, "warps need no barrier", "dim", 10)
    wide = (WIDTH - LEFT - right + 3) / warps
    for warp in range(warps):
        x = right + wide * warp
        picture.cell(x, top, wide - 3, 30, warp, "blue", 10)
        picture.line([(x + (wide - 3) / 2, top + 32), (x + (wide - 3) / 2, top + 62)])
        picture.box(x + 3, top + 64, wide - 9, 14, "pale", 0)
    picture.left_text(right, top + 92, f"5 shuffles in each of {warps} warps,", "", 10)
    picture.left_text(right, top + 106, f"then {warps} sums in shared memory", "", 10)
    picture.box(right, top + 117, WIDTH - LEFT - right, 3, "orange", 0)
    picture.box(right, top + 126, WIDTH - LEFT - right, 24, "blue")
    picture.text((right + WIDTH - LEFT) / 2, top + 138, f"every warp reads the {warps} sums", "on-blue", 10)
    picture.left_text(right, top + 166, "and adds them by 5 shuffles", "", 10)
    for x, stage in ((LEFT, "03_tree"), (right, "04_shuffles")):
        picture.left_text(x, 246, f"{cost[stage][0]} barriers, and {cost[stage][1]} requests", "bold", 10)
        picture.left_text(x, 260, "to shared memory", "bold", 10)
    picture.box(LEFT, 282, 14, 3, "orange", 0)
    picture.left_text(LEFT + 19, 284, "a barrier; before them stage 3 has two more, stage 4 one", size=10)
    return picture


# --- Merging the moments of two parts ---


def moments(numbers):
    """Count, mean, and the sum of the squared distances from the mean, in two passes."""
    mean = sum(numbers) / len(numbers)
    return len(numbers), mean, sum((one - mean) ** 2 for one in numbers)


def merged(a, b):
    """The rule of merged() in 09_two_passes.cuh."""
    count, distance = a[0] + b[0], b[1] - a[1]
    share = b[0] / count
    gap = distance * distance * a[0] * share
    return (count, a[1] + distance * share, a[2] + b[2] + gap), gap


def draw_welford_merge(programs):
    rule = function_of(FOLDER / "09_two_passes.cuh", "merged")
    for line in ("distance = b.mean - a.mean", "b.count / count", "distance * distance * a.count * share",
                 "a.mean + distance * share", "a.squares + b.squares + gap"):
        require(line in rule, f"merged() has no {line}")
    programs.trace(CHAPTER, "1x256", "09_two_passes")  # it is right, or ends with an error
    a, b = [2, 4, 5, 5], [9, 11]
    of_a, of_b = moments(a), moments(b)
    both, gap = merged(of_a, of_b)
    distance = of_b[1] - of_a[1]
    require(all(abs(x - y) < 1e-12 for x, y in zip(both, moments(a + b))), "the merge is wrong")

    picture, axis, left, step = Picture("The moments of two parts, merged", 252), 78, 30, 28

    def at(value):
        return left + step * value

    picture.heading(LEFT, 15, "Two threads have summed up their numbers")
    picture.line([(at(0), axis), (at(12), axis)], "dashed", head=False)
    for value in range(0, 13, 2):
        picture.text(at(value), axis + 12, value, "dim", 9)
    for numbers, kind, of_part, name in ((a, "blue", of_a, "a"), (b, "orange", of_b, "b")):
        for i, value in enumerate(numbers):
            picture.box(at(value) - 5, axis - 12 - 12 * numbers[:i].count(value), 10, 10, kind, 5)
        picture.text(at(of_part[1]), axis - 38, f"mean of {name}", "", 10)
        picture.line([(at(of_part[1]), axis - 31), (at(of_part[1]), axis - 18)], "arrow")
    picture.text(at(both[1]), axis + 40, "mean of both", "bold", 10)
    picture.line([(at(both[1]), axis + 33), (at(both[1]), axis + 20)], "arrow")
    columns = (LEFT + 92, LEFT + 168, LEFT + 270)
    for x, words in zip(columns, ("count", "mean", "squared distances")):
        picture.text(x, 138, words, "dim", 10)
    for row, (name, values, kind) in enumerate((("part a", of_a, "blue"), ("part b", of_b, "orange"))):
        y = 148 + 26 * row
        picture.left_text(LEFT, y + 10, name, "bold", 11)
        for x, value in zip(columns, values):
            picture.cell(x - 32, y, 64, 20, f"{value:g}", kind, 11)
    y = 202
    picture.left_text(LEFT, y + 11, "merged", "bold", 11)
    for x, value in zip(columns, (f"{of_a[0]} + {of_b[0]} = {both[0]}",
                                  f"{of_a[1]:g} + {distance:g} × {of_b[0]}/{both[0]} = {both[1]:g}",
                                  f"{of_a[2]:g} + {of_b[2]:g} + {gap:g} = {both[2]:g}")):
        picture.text(x, y + 11, value, "", 10)
    product = f"{distance:g} × {distance:g} × {of_a[0]} × {of_b[0]} / {both[0]}"
    picture.left_text(LEFT, 238, f"{gap:g} = {product}: the means are apart, too", "", 10)
    return picture


# --- Where a row stays ---


def draw_row_places(programs):
    held = constant("rows.cuh", "kHeldBytes") // FLOAT  # elements of a thread
    most_threads, long_threads = 1024, constant("10_long_rows.cuh", "kLongRowThreads")
    slice_threads = constant("12_clusters.gpu.cuh", "kSliceThreads")
    blocks, stages = (constant("12_clusters.gpu.cuh", name) for name in ("kMostBlocks", "kStages"))
    columns = 32768
    launch, = programs.trace(CHAPTER, f"1x{columns}", "10_long_rows")
    bytes_of = {}
    for operation in ("load", "copy"):
        one = requests_of(launch, operation=operation, array="x")
        bytes_of[operation] = len(one) * one[0]["bytes"] * long_threads
    require(bytes_of["load"] == held * FLOAT * long_threads, "10_long_rows holds another part in registers")
    require(sum(bytes_of.values()) == columns * FLOAT, "10_long_rows reads another part of its row")
    short, = programs.trace(CHAPTER, f"1x{held * most_threads}", "10_one_read")
    require(short["block"][0] == most_threads, "10_one_read has other blocks")
    slice_columns = held * slice_threads

    picture, wide = Picture("Where a row stays between the passes", 310), INNER
    picture.heading(LEFT, 15, f"10_one_read: up to {held * most_threads:,} columns")
    picture.cell(LEFT, 28, wide / 2, 24, f"{held * most_threads * FLOAT // KIB} KiB in registers", "blue")
    picture.left_text(LEFT, 65, f"one block, {held} elements in each of up to {most_threads} threads", "", 10)

    picture.heading(LEFT, 98, f"10_long_rows: here {columns:,} columns")
    share = bytes_of["load"] / (columns * FLOAT)
    picture.cell(LEFT, 111, share * wide, 24, f"{bytes_of['load'] // KIB} KiB", "blue")
    picture.cell(LEFT + share * wide, 111, (1 - share) * wide, 24, f"{bytes_of['copy'] // KIB} KiB in shared "
                 "memory", "orange")
    says = f"one block of {long_threads} threads; the rest comes by asynchronous copies"
    picture.left_text(LEFT, 148, says, "", 10)

    picture.heading(LEFT, 181, f"12_clusters: up to {blocks * slice_columns:,} columns")
    gap, shown = 8, 4
    each = (wide - gap * (shown - 1)) / shown
    for block in range(shown):
        x = LEFT + (each + gap) * block
        picture.box(x, 194, each, 62, "pale", 4)
        words = f"block {block}" if block < shown - 1 else f"… up to {blocks}"
        picture.text(x + each / 2, 205, words, "bold" if block < shown - 1 else "", 10)
        picture.cell(x + 6, 215, each - 12, 15, f"{slice_columns * FLOAT // KIB} KiB", "blue", 9)
        for stage in range(stages):
            part = (each - 12) / stages
            picture.box(x + 6 + part * stage, 234, part - 2, 14, "orange")
        picture.line([(x + each / 2, 269), (x + each / 2, 258)], "arrow-blue")
    picture.line([(LEFT + each / 2, 269), (WIDTH - LEFT - each / 2, 269)], "arrow-blue", head=False)
    picture.left_text(LEFT, 284, "Warps send mean and squared distances to all blocks.", "", 10)
    picture.box(LEFT, 297, 10, 8, "blue")
    picture.left_text(LEFT + 14, 301, "registers", size=9)
    picture.box(LEFT + 66, 297, 10, 8, "orange")
    says = f"shared memory; in a cluster {stages} slices: of this row and later ones"
    picture.left_text(LEFT + 80, 301, says, size=9)
    return picture


PICTURES = {
    "tree_or_shuffles": draw_tree_or_shuffles,
    "welford_merge": draw_welford_merge,
    "row_places": draw_row_places,
}
