"""The pictures of chapter 05, which plots/diagrams.py draws with its own

What lanes access comes from traces of the chapter's program. Speeds, and the bytes that stages should
request, come from the committed measurements on an H200.
"""

import json
import math
import re

from diagrams import (LEFT, ROOT, SECTOR, WARP, WIDTH, Picture, draw_words, lanes_of, multiprocessors,
                      requests_of, require)

CHAPTER = "05_linear_gelu"
SHAPE = [4096, 1024, 4096]  # of the roofline
FLOAT = 4  # bytes


def trace(programs, size, stage):
    """The only launch of a stage, or its first."""
    return programs.trace(CHAPTER, size, stage)[0]


# --- Sectors ---


def draw_product_sectors(programs):
    """The first load of x of stages 1 and 2."""
    picture = Picture("The sectors that a warp's load of x touches in stages 1 and 2", 190)
    for top, stage, size, what in ((16, "01_unfused", "32x64x8", "Stage 1: lanes in 32 rows of x"),
                                   (118, "02_coalesced", "32x64x8", "Stage 2: lanes along a row of x")):
        load = requests_of(trace(programs, size, stage), operation="load", array="x")[0]
        sectors = sorted({offset // SECTOR for offset in load["offsets"]})
        require(len(sectors) == load["sectors"], f"{stage} loads other sectors")
        picture.heading(LEFT, top, what)
        used = WARP * FLOAT // load["sectors"]
        picture.right_text(WIDTH - LEFT, top,
                           f"{load['sectors']} sectors, {used} of {SECTOR} bytes used", size=10)
        # Eight sectors in a row; each has eight words of 4 bytes.
        pitch, word = 47, 5.5
        for i, sector in enumerate(sectors):
            x, y = LEFT + i % 8 * pitch, top + 13 + i // 8 * 18
            picture.box(x, y, 8 * word, 14, "pale", 1)
            for offset in load["offsets"]:
                if offset // SECTOR == sector:
                    picture.box(x + offset % SECTOR // FLOAT * word, y, word, 14, "blue", 0)
    picture.box(LEFT, 166, 5.5, 14, "blue", 0)
    picture.left_text(26, 173, "a float that a lane loads", size=10)
    picture.box(200, 166, 44, 14, "pale", 1)
    picture.left_text(252, 173, "a sector, 32 bytes", size=10)
    return picture


# --- Tiles ---


def draw_matrices(picture, left, top, of_rows, of_columns):
    """y of 4 x 4 elements below w and beside x, with k = 6; the tile of `of_rows` x `of_columns` and all that
    it needs are blue."""
    side, cell, k = 4, 13, 6
    at_y = left + k * cell + 10, top + k * cell + 10
    for row in range(side):
        for i in range(k):
            kind = "blue" if row in of_rows else "pale"
            picture.box(left + i * cell, at_y[1] + row * cell, cell - 2, cell - 2, kind, 1)
            kind = "blue" if row in of_columns else "pale"
            picture.box(at_y[0] + row * cell, top + i * cell, cell - 2, cell - 2, kind, 1)
        for column in range(side):
            kind = "orange" if row in of_rows and column in of_columns else "pale"
            picture.box(at_y[0] + column * cell, at_y[1] + row * cell, cell - 2, cell - 2, kind, 1)
    picture.text(left + k * cell / 2, at_y[1] - 8, "x", "bold")
    picture.text(at_y[0] - 12, top + k * cell / 2, "wᵀ", "bold")
    picture.text(at_y[0] + side * cell + 8, at_y[1] + side * cell / 2, "y", "bold")


def draw_rows_for_tile(programs):
    """Stage 4 requests 4 k (1/R + 1/C) bytes per element; here the rule is drawn for small tiles."""
    size = 64
    counted = programs.counts(CHAPTER, f"{size}x{size}x{size}", "04_tiles")["load_sectors"] * SECTOR
    require(counted == FLOAT * size * (size // 32) ** 2 * (32 + 32), "04_tiles loads other rows")
    picture = Picture("The rows that one element, and a tile of four, need", 196)
    for left, tile, what in ((LEFT, ([1], [2]), "One element"), (214, ([0, 1], [2, 3]), "A tile of 2 × 2")):
        rows, columns = tile
        picture.heading(left, 14, what)
        draw_matrices(picture, left, 28, rows, columns)
        needed, elements = len(rows) + len(columns), len(rows) * len(columns)
        picture.left_text(left, 184, f"{needed} rows for {elements} element{'s' * (elements > 1)}", "", 11)
    return picture


def draw_chunks(programs):
    """Stage 4's loop over k: what its first warp accesses in three chunks, and the barriers of the source."""
    tile, chunks = 32, 3
    launch = trace(programs, f"{tile}x{tile * chunks}x{tile}", "04_tiles")
    for array in ("x", "w"):
        loads = requests_of(launch, operation="load", space="global", array=array)
        firsts = [load["offsets"][0] // FLOAT for load in loads]
        require(firsts == [tile * chunk for chunk in range(chunks)], f"04_tiles loads others of {array}")
        require(len(requests_of(launch, operation="load", array=f"tile_{array}")) == tile * chunks,
                f"04_tiles loads tile_{array} more or less than once per step")
    code = (ROOT / "chapters" / CHAPTER / "04_tiles.cuh").read_text()
    loop = re.search(r"for \(int first = 0.*?^  }", code, re.S | re.M)[0]
    require(re.search(r"tile_w\[warp\].*?__syncthreads.*?sum \+=.*?__syncthreads", loop, re.S)
            and loop.count("__syncthreads()") == 2, "the loop of 04_tiles has other barriers")

    picture, side, top = Picture("A block goes along k in chunks", 306), 54, 34
    picture.heading(LEFT, 14, "A block's tile of y, and the chunks of x and w along k")
    left = 62
    at_y = left + chunks * side + 14, top + chunks * side + 14
    for chunk in range(chunks):
        kind = ("pale", "blue", "plain")[chunk]
        words = (f"k {tile * chunk}", f"to {tile * (chunk + 1) - 1}")
        for x, y in ((left + side * chunk, at_y[1]), (at_y[0], top + side * chunk)):
            picture.box(x, y, side - 3, side - 3, kind)
            colour = "on-blue" if kind == "blue" else ""
            for line, text in enumerate(words):
                picture.text(x + side / 2 - 1, y + 19 + 13 * line, text, colour, 9)
    picture.box(*at_y, side - 3, side - 3, "orange")
    for line, text in enumerate(("sums, in", "registers")):
        picture.text(at_y[0] + side / 2 - 1, at_y[1] + 19 + 13 * line, text, "on-orange", 9)
    picture.right_text(left - 8, at_y[1] + 18, "x", "bold")
    picture.right_text(left - 8, at_y[1] + 33, f"{tile} rows", "dim", 9)
    picture.left_text(at_y[0] + side + 4, top + 14, "wᵀ", "bold")
    picture.left_text(at_y[0] + side + 4, top + 29, f"{tile} columns", "dim", 9)
    for line, (kind, words) in enumerate((("pale", "multiplied"), ("blue", "in shared memory"),
                                          ("plain", "still to come"))):
        picture.box(LEFT, top + 20 * line, 12, 12, kind)
        picture.left_text(LEFT + 18, top + 6 + 20 * line, words, "", 10)
    y = at_y[1] + side + 14
    picture.left_text(LEFT, y, "Per chunk:", "bold", 10)
    x = 84
    for words, kind, wide in (("copy it", "blue", 52), ("barrier", "idle", 48),
                              (f"{tile} steps of multiplying", "orange", 128), ("barrier", "idle", 48)):
        picture.cell(x, y - 9, wide - 2, 18, words, kind, 9)
        x += wide
    return picture


def elements_of_warp(programs, columns):
    """{lane: its elements of the result} of the first warp of stage 9, which stores 16 bytes at a time."""
    launch = trace(programs, f"128x16x{columns}", "09_warp_tiles")
    elements = {lane: set() for lane in range(WARP)}
    for store in requests_of(launch, operation="store", array="product"):
        for lane, offset in lanes_of(store).items():
            first = offset // FLOAT
            elements[lane] |= {divmod(first + i, columns) for i in range(store["bytes"] // FLOAT)}
    return launch, elements


def size_of(elements):
    """Rows and columns, from the first to the last."""
    return [max(one[axis] for one in elements) - min(one[axis] for one in elements) + 1 for axis in (0, 1)]


def runs_of(numbers):
    """First and length of each run of neighbours."""
    runs = []
    for number in sorted(set(numbers)):
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs


def draw_tile_hierarchy(programs):
    side = 128  # a matrix of one block tile
    launch, elements = elements_of_warp(programs, side)
    require(launch["grid"] == [1, 1, 1], "09_warp_tiles has another block tile")
    warps = launch["block"][0] // WARP
    of_warp = set().union(*elements.values())
    rows, columns = size_of(of_warp)
    require(len(of_warp) == rows * columns == side * side // warps, "09_warp_tiles has other warp tiles")
    patch_rows, patch_columns = (runs_of(one[axis] for one in elements[0]) for axis in (0, 1))
    of_x, of_w = (sum(length for _, length in runs) for runs in (patch_rows, patch_columns))
    require(len(elements[0]) == of_x * of_w, "a thread of 09_warp_tiles has other elements")

    picture = Picture("Block tile, warp tile and thread tile of stage 9", 250)
    top, scale = 44, 0.96875
    blocks, zoom = side * scale, 2
    left, middle, right = 12, 182, 290
    # The block tile, with the tile of a warp beside the next picture; all warps have the same tile.
    picture.heading(left, 14, "Block tile")
    picture.left_text(left, 30, f"{side} x {side}, {warps} warps", "dim", 10)
    for row in range(0, side, rows):
        for column in range(0, side, columns):
            picture.box(left + column * scale, top + row * scale, columns * scale - 1, rows * scale - 1,
                        "blue" if row == 0 and column == side - columns else "pale", 0)
    # The warp tile, with the elements of the first lane.
    picture.heading(middle, 14, "Warp tile")
    picture.left_text(middle, 30, f"{rows} x {columns}, 32 lanes", "dim", 10)
    picture.box(middle, top, columns * zoom, rows * zoom, "pale", 0)
    for lane in range(1, WARP):
        for row, high in runs_of(one[0] for one in elements[lane]):
            for column, wide in runs_of(one[1] for one in elements[lane]):
                picture.box(middle + column * zoom, top + row * zoom, wide * zoom, high * zoom, "plain", 0)
    for row, high in patch_rows:
        for column, wide in patch_columns:
            picture.box(middle + column * zoom, top + row * zoom, wide * zoom, high * zoom, "orange", 0)
    picture.line([(left + blocks, top), (middle - 2, top)], "dashed", head=False)
    picture.line([(left + blocks, top + rows * scale), (middle - 2, top + rows * zoom)], "dashed", head=False)
    # The thread tile: one step of k.
    cell, start = 9.5, right + 14
    picture.heading(right, 14, "Thread tile")
    picture.left_text(right, 30, f"{of_x} x {of_w}, registers", "dim", 10)
    for i in range(of_x):
        picture.box(right, top + 14 + i * cell, cell, cell, "blue", 0)
    for j in range(of_w):
        picture.box(start + j * cell, top, cell, cell, "blue", 0)
        for i in range(of_x):
            picture.box(start + j * cell, top + 14 + i * cell, cell, cell, "orange", 0)
    for line, words in enumerate((f"{of_x} words of x and", f"{of_w} of w give", f"{of_x * of_w} products")):
        picture.left_text(right, 152 + 14 * line, words, size=10)
    picture.left_text(left, 193, "for each step of k:", "dim", 10)
    y = 209
    for x, words, products in ((left, 2 * side, side * side), (middle, rows + columns, rows * columns),
                               (right, of_x + of_w, of_x * of_w)):
        picture.left_text(x, y, f"{words} words", size=10)
        picture.left_text(x, y + 14, f"{products:,} products", size=10)
        picture.left_text(x, y + 28, f"{products / words:.3g} per word", "bold", 10)
    return picture


# --- Lanes and banks ---


def loads_of_operands(programs, stage):
    """(of x, of w): the first 16-byte load of each by the first warp."""
    launch = trace(programs, "128x16x128", stage)
    loads = requests_of(launch, operation="load", space="shared", bytes=16)
    if stage == "09_warp_tiles":  # one array for both: two tiles of x, then two of w; those of the first row
        of_w = 2 * 8 * (128 + 4) * FLOAT
        return tuple(next(one for one in loads if min(one["offsets"]) == first) for first in (0, of_w))
    return (next(one for one in loads if one["array"] == name) for name in ("tile_x", "tile_w"))


def passes_of_half(offsets):
    """Wavefronts of a 16-byte load by half a warp: the most words in a bank for each quarter, or over both if
    each lane loads what its neighbour does, or what the lane two further does."""
    def most(part):
        words = {offset // FLOAT + i for offset in part for i in range(4)}
        banks = [word % 32 for word in words]
        return max(banks.count(bank) for bank in banks)
    if any(all(offsets[lane] == offsets[lane ^ distance] for lane in range(16)) for distance in (1, 2)):
        return most(offsets)
    return most(offsets[:8]) + most(offsets[8:])


def draw_half_in_banks(picture, y, name, offsets):
    """The words that half a warp loads, in rows of 32; returns where it ends."""
    words = {offset // FLOAT + i for offset in offsets for i in range(4)}
    first = min(words) // 32 * 32
    rows = max(words) // 32 - first // 32 + 1
    left, wide, high = 28, 7.5, 9
    picture.left_text(LEFT, y + rows * high / 2, name)
    picture.box(left, y, 32 * wide, rows * high, "pale", 0)
    draw_words(picture, left, y, (wide, high), {"blue-dot": [word - first for word in words]})
    cost = passes_of_half(offsets)
    picture.left_text(left + 32 * wide + 6, y + rows * high / 2,
                      f"{len(words)} words: {cost} wavefront{'s' if cost > 1 else ''}", size=9)
    return y + rows * high + 7


def draw_warp_lanes(programs):
    title = "The lanes of a warp in stages 8 and 9, and the banks that half of it reads"
    picture = Picture(title, 366)
    y = 14
    for stage, what in (("08_pipelined", "Stage 8: 2 rows of 16 lanes"),
                        ("09_warp_tiles", "Stage 9: 8 rows of 4 lanes")):
        of_x, of_w = loads_of_operands(programs, stage)
        row_of, column_of = ({offset: i for i, offset in enumerate(sorted(set(one["offsets"])))}
                             for one in (of_x, of_w))
        for request in (of_x, of_w):
            halves = [passes_of_half(request["offsets"][first:first + 16]) for first in (0, 16)]
            require(sum(halves) == request["wavefronts"], f"{stage} costs other wavefronts")
        require(f"{len(row_of)} rows of {len(column_of)}" in what, f"{stage} has its lanes elsewhere")
        picture.heading(LEFT, y, what)
        cost = of_x["wavefronts"] + of_w["wavefronts"]
        picture.right_text(WIDTH - LEFT, y, f"x and w, both halves: {cost} wavefronts", size=10)
        wide, high, top = 22, 15, y + 12
        left = LEFT
        for lane, (x, w) in enumerate(zip(of_x["offsets"], of_w["offsets"])):
            picture.cell(left + column_of[w] * wide, top + row_of[x] * high, wide - 1, high - 1, lane,
                         "blue" if lane < 16 else "pale", 9)
        if len(column_of) <= 4:
            for line, words in enumerate(("The row comes from bits 0, 2, 4", "of the lane's number,",
                                          "the column from bits 1 and 3.")):
                picture.left_text(left + 4 * wide + 14, top + 22 + 14 * line, words, size=10)
        y = top + len(row_of) * high + 18
        picture.left_text(28, y - 4, "bank 0", "dim", 9)
        picture.right_text(268, y - 4, "bank 31", "dim", 9)
        y += 6
        for name, request in (("x", of_x), ("w", of_w)):
            y = draw_half_in_banks(picture, y, name, request["offsets"][:16])
        y += 20
    picture.box(LEFT, 350, 12, 12, "blue", 0)
    picture.left_text(30, 356, "first half of the warp, and the words that it loads", size=10)
    return picture


# --- Roofline ---

# Peak TFLOP/s of an H200 (NVIDIA H200 datasheet, without sparsity).
FLOAT32_PEAK, BFLOAT16_PEAK = 67, 989
L1_BYTES_PER_CYCLE = 128  # of a multiprocessor: 32 banks of 4 bytes


def requested(stage):
    traffic = stage["traffic"]
    return traffic["expected_read_bytes"] + traffic["expected_write_bytes"]


def points_of(chapter):
    """The card, and [(number of the stage, FLOP per byte requested, TFLOP/s)], of each of our stages that
    computes x * w^T once in the chapter's type. Of variants with one number the fastest is shown."""
    runs = json.loads((ROOT / "plots" / "data" / "h200" / f"{chapter}.json").read_text())
    run, = (one for one in runs if one["shape"] == SHAPE)
    flops, best = 2 * math.prod(SHAPE), {}
    for stage in run["stages"]:
        library = stage["idea"].startswith("library")
        if library or not stage["tflops"] or stage["output"] == "z" or "tf32" in stage["name"]:
            continue
        number = int(re.match(r"\d+", stage["name"])[0])
        if number not in best or stage["tflops"] > best[number][2]:
            best[number] = (number, flops / requested(stage), stage["tflops"])
    return run["device"], sorted(best.values())


def groups_of(points, place):
    """Points that are so close that they share a label."""
    groups = []
    for point in points:
        near = [group for group in groups
                if any(math.dist(place(*point[1:]), place(*one[1:])) < 7 for one in group)]
        groups = [group for group in groups if group not in near] + [sum(near, []) + [point]]
    return groups


def draw_points(picture, place, points, kind):
    """Dots, with the numbers of their stages beside or below them."""
    for group in groups_of(points, place):
        spots = [place(*point[1:]) for point in group]
        for x, y in spots:
            picture.box(x - 3.5, y - 3.5, 7, 7, kind, 3.5)
        words = ", ".join(str(number) for number in sorted(point[0] for point in group))
        first, last = min(x for x, _ in spots), max(x for x, _ in spots)
        middle = sum(y for _, y in spots) / len(spots)
        intensity = group[0][1]
        if kind == "orange-dot" and intensity < 70:
            picture.right_text(first - 7, middle, words, "bold", 9)
        elif kind == "orange-dot" and intensity < 100:
            picture.left_text(last - 3, max(y for _, y in spots) + 10, words, "bold", 9)
        elif 4 < intensity < 25:
            picture.text((first + last) / 2, max(y for _, y in spots) + 11, words, "bold", 9)
        else:
            picture.left_text(last + 7, middle, words, "bold", 9)


def draw_roofline(programs):
    device, float32 = points_of(CHAPTER)
    _, bfloat16 = points_of("06_tensor_cores")
    l1 = multiprocessors() * L1_BYTES_PER_CYCLE * device["sm_clock_mhz"] * 1e-6  # TB/s
    dram = device["pin_gbytes_per_s"] * 1e-3
    for _, intensity, speed in float32:
        require(speed <= min(FLOAT32_PEAK, intensity * l1), "a stage is above the roofs")

    picture = Picture("Roofline of an H200 with the stages of chapters 05 and 06", 340)
    left, right, top, bottom = 38, 388, 34, 284
    (x_first, x_last), (y_first, y_last) = (-1.6, 2.6), (-0.5, 3.25)

    def place(intensity, speed):
        return (left + (math.log10(intensity) - x_first) / (x_last - x_first) * (right - left),
                bottom - (math.log10(speed) - y_first) / (y_last - y_first) * (bottom - top))

    picture.heading(LEFT, 14, "TFLOP/s")
    picture.right_text(WIDTH - LEFT, 14, f"H200, {' x '.join(map(str, SHAPE))}", "dim", 10)
    for power in range(-1, 3):
        x, _ = place(10.0 ** power, 1)
        picture.box(x - 0.5, top, 1, bottom - top, "fan", 0)
        picture.text(x, bottom + 12, f"{10.0 ** power:g}", "dim", 9)
    for power in range(0, 4):
        _, y = place(1, 10.0 ** power)
        picture.box(left, y - 0.5, right - left, 1, "fan", 0)
        picture.right_text(left - 4, y, f"{10 ** power}", "dim", 9)
    picture.text((left + right) / 2, bottom + 27, "FLOP per byte that is requested", size=10)
    low = 10.0 ** x_first
    ridge = BFLOAT16_PEAK / l1
    picture.line([place(low, low * l1), place(ridge, BFLOAT16_PEAK), place(10.0 ** x_last, BFLOAT16_PEAK)],
                 "arrow-blue", head=False)
    start = 10.0 ** y_first / dram
    picture.line([place(start, start * dram), place(10.0 ** x_last, 10.0 ** x_last * dram)], "dashed",
                 head=False)
    picture.line([place(FLOAT32_PEAK / l1, FLOAT32_PEAK), place(10.0 ** x_last, FLOAT32_PEAK)], "arrow-blue",
                 head=False)
    x, y = place(0.9, 0.9 * l1)
    picture.right_text(x - 8, y, f"L1 caches: {l1:.0f} TB/s", size=9)
    x, y = place(1.1, 1.1 * dram)
    picture.left_text(x + 8, y + 4, f"DRAM: {dram:.1f} TB/s", "dim", 9)
    x, y = place(3.4, FLOAT32_PEAK)
    picture.left_text(x, y - 8, f"float32: {FLOAT32_PEAK}", size=9)
    x, y = place(12, BFLOAT16_PEAK)
    picture.right_text(x, y, f"bfloat16, tensor cores: {BFLOAT16_PEAK}", size=9)
    draw_points(picture, place, float32, "blue-dot")
    draw_points(picture, place, bfloat16, "orange-dot")
    for x, kind, words in ((70, "blue-dot", "chapter 05, float32"),
                           (220, "orange-dot", "chapter 06, bfloat16")):
        picture.box(x, 328 - 3.5, 7, 7, kind, 3.5)
        picture.left_text(x + 13, 328, words, size=10)
    return picture


PICTURES = {
    "product_sectors": draw_product_sectors,
    "rows_for_tile": draw_rows_for_tile,
    "chunks": draw_chunks,
    "tile_hierarchy": draw_tile_hierarchy,
    "warp_lanes": draw_warp_lanes,
    "roofline_products": draw_roofline,
}
