"""Draws the pictures of the lessons' mechanisms as SVG, into plots/diagrams.

    python3 plots/diagrams.py                                    with the programs in build/bin
    python3 plots/diagrams.py --programs FOLDER --out FOLDER

What lanes access comes from traces of the chapters' programs on the CPU device (docs/json.md). What a trace
does not hold, such as the values of a tree, is computed here by the kernel's rule, and checked where a
program says enough about it. Exit status 2: a program does not do what its picture says; 3: a program is
missing.

One file serves light and dark. Its colours follow `prefers-color-scheme`, which a browser answers for an
image with the color-scheme of the page around it: that of GitHub's theme, and in the book that of its switch.
All lengths are pixels at a width of 400, where the smallest text has 9.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, SMALLEST_TEXT = 400, 9
WARP, SECTOR, FLOAT = 32, 32, 4  # lanes, bytes, bytes

STYLE = """
:root { --back: #ffffff; --ink: #1f2328; --dim: #57606a; --line: #8c959f; --pale: #eaeef2;
        --blue: #0072b2; --on-blue: #ffffff; --orange: #e69f00; }
@media (prefers-color-scheme: dark) {
  :root { --back: #161b22; --ink: #e6edf3; --dim: #9da7b1; --line: #6e7681; --pale: #2a313a;
          --blue: #4da6e0; --on-blue: #06111c; --orange: #f0b429; }
}
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.dim { fill: var(--dim); }
.bold { font-weight: bold; }
.on-blue { fill: var(--on-blue); }
.on-orange { fill: #1f2328; }
.back { fill: var(--back); }
.plain { fill: none; stroke: var(--line); }
.pale { fill: var(--pale); stroke: var(--line); }
.idle { fill: none; stroke: var(--line); stroke-dasharray: 2 2; }
.blue { fill: var(--blue); stroke: var(--back); }
.orange { fill: var(--orange); stroke: var(--back); }
.blue-dot { fill: var(--blue); }
.orange-dot { fill: var(--orange); }
path { fill: none; stroke-width: 1.3; }
marker path { stroke: none; }
.fan { fill: var(--pale); opacity: 0.6; }
.arrow { stroke: var(--dim); }
.arrow-blue { stroke: var(--blue); }
.arrow-orange { stroke: var(--orange); stroke-width: 2.4; }
.dashed { stroke: var(--dim); stroke-dasharray: 4 3; }
.head { fill: var(--dim); }
.head-blue { fill: var(--blue); }
.head-orange { fill: var(--orange); }
"""


class Wrong(Exception):
    """A program that does not do what its picture says."""


def require(condition, what):
    if not condition:
        raise Wrong(what)


# --- Drawing ---


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Picture:
    """An SVG of WIDTH x `height`. Places are centres of texts, and top left corners of boxes."""

    def __init__(self, title, height):
        self.title, self.height, self.parts = title, height, []

    def box(self, x, y, width, height, kind="plain", radius=2):
        self.parts.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" '
                          f'height="{number(height)}" rx="{radius}" class="{kind}"/>')

    def text(self, x, y, words, kind="", size=11, anchor="middle"):
        assert size >= SMALLEST_TEXT
        self.parts.append(f'<text x="{number(x)}" y="{number(y + 0.35 * size)}" font-size="{number(size)}" '
                          f'text-anchor="{anchor}" class="{kind}">{escape(str(words))}</text>')

    def left_text(self, x, y, words, kind="", size=11):
        self.text(x, y, words, kind, size, "start")

    def right_text(self, x, y, words, kind="", size=11):
        self.text(x, y, words, kind, size, "end")

    def heading(self, x, y, words):
        self.left_text(x, y, words, "bold")

    def cell(self, x, y, width, height, words, kind="plain", size=10):
        """A box with a text in it."""
        self.box(x, y, width, height, kind)
        self.text(x + width / 2, y + height / 2, words, {"blue": "on-blue", "orange": "on-orange",
                                                         "idle": "dim"}.get(kind, ""), size)

    def line(self, points, kind="arrow", head=True):
        way = "M" + " L".join(f"{number(x)} {number(y)}" for x, y in points)
        end = f' marker-end="url(#{kind})"' if head else ""
        self.parts.append(f'<path d="{way}" class="{kind}"{end}/>')

    def svg(self):
        heads = "".join(f'<marker id="{kind}" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="{size}" '
                        f'markerHeight="{size}" markerUnits="userSpaceOnUse" orient="auto">'
                        f'<path d="M0 0 L6 3 L0 6 Z" class="{kind.replace("arrow", "head")}"/></marker>'
                        for kind, size in (("arrow", 6), ("arrow-blue", 6), ("arrow-orange", 9)))
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="640" '
            f'height="{number(640 / WIDTH * self.height)}" role="img">',
            f"<title>{escape(self.title)}</title>", f"<style>{STYLE}</style>", f"<defs>{heads}</defs>",
            f'<rect width="{WIDTH}" height="{self.height}" rx="6" class="back"/>', *self.parts, "</svg>\n"])


# --- Reading ---


class Programs:
    def __init__(self, folder):
        self.folder = folder

    def run(self, name, *arguments):
        program = self.folder / name
        if not program.exists():
            raise FileNotFoundError(f"{program} is missing: build the workbook first")
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        require(done.returncode == 0, f"{name} {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")
        return done.stdout

    def trace(self, chapter, size, stage):
        """The launches of a stage, as docs/json.md describes them."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            self.run(chapter, "--device", "cpu", "--size", size, "--stage", stage, "--trace", file)
            return json.loads(file.read_text())["stages"][0]["launches"]


def lanes_of(request):
    """{lane: offset} of the lanes that take part."""
    return {lane: offset for lane, offset in enumerate(request["offsets"]) if offset >= 0}


def requests_of(launch, **wanted):
    return [one for one in launch["requests"] if all(one[field] == value for field, value in wanted.items())]


# --- The pictures ---


LEFT, INNER = 12, WIDTH - 24  # where rows over the whole width begin, and how wide they are


def draw_fan(picture, number_in_row, count, top, bottom):
    """From a box of a row, which ends at `top`, to the wider row at `bottom` that shows its inside."""
    wide = INNER / count
    first = LEFT + number_in_row * wide
    corners = [(first, top), (first + wide, top), (LEFT + INNER, bottom), (LEFT, bottom)]
    picture.line(corners, "fan", head=False)


def row_of_boxes(picture, count, y, height, kind, words):
    """Boxes over the whole width; returns the x of each. `kind` and `words` are functions of its number."""
    gap = 2
    width = (INNER + gap) / count - gap
    places = [LEFT + i * (width + gap) for i in range(count)]
    for i, x in enumerate(places):
        picture.cell(x, y, width, height, words(i), kind(i), 9)
    return places


def draw_grid(picture, n, blocks, threads):
    picture.heading(LEFT, 16, f"The grid: {blocks} blocks of {threads} threads for n = {n}")
    places = row_of_boxes(picture, blocks, 28, 34, lambda b: "blue" if b < blocks - 1 else "pale",
                          lambda b: "")
    for b, x in enumerate(places):
        middle, colour = x + INNER / blocks / 2 - 1, "on-blue" if b < blocks - 1 else ""
        picture.text(middle, 38, f"block {b}", colour, 10)
        picture.text(middle, 52, f"i = {b * threads}…{(b + 1) * threads - 1}", colour, 9)


def draw_last_warp(picture, first, active):
    """Its lanes, of which `active` pass the guard; `first` is the element of the first lane."""
    picture.heading(LEFT, 170, f"Its last warp: {WARP} lanes, i = {first}…{first + WARP - 1}")
    lanes = row_of_boxes(picture, WARP, 182, 22, lambda lane: "blue" if lane < active else "idle",
                         lambda lane: lane if lane < active else "")
    guard = lanes[active] - 1
    picture.line([(guard, 180), (guard, 238)], "arrow-orange", head=False)
    picture.right_text(guard - 6, 218, "i < n")
    picture.right_text(guard - 6, 233, f"{active} lanes work")
    picture.left_text(guard + 6, 218, "i ≥ n")
    picture.left_text(guard + 6, 233, f"{WARP - active} lanes do nothing")
    picture.text(WIDTH / 2, 256, "The guard: if (i < n) out[i] = 2.0f * x[i];")


def draw_grid_and_guard(programs):
    n = 1000
    launch, = programs.trace("00_first_kernel", n, "3_grid")
    blocks, threads = launch["grid"][0], launch["block"][0]
    elements = n - (blocks - 1) * threads  # of the last block
    warps, full, active = threads // WARP, elements // WARP, elements % WARP
    # A trace has the first warp alone, so this one is of a launch whose first warp is like that last one.
    small, = programs.trace("00_first_kernel", active, "3_grid")
    for request in small["requests"]:
        require(list(lanes_of(request)) == list(range(active)), "the guard of 3_grid lets other lanes in")

    picture = Picture("Grid, blocks, warps and the guard", 268)
    draw_fan(picture, blocks - 1, blocks, 62, 110)
    draw_fan(picture, full, warps, 134, 182)
    draw_grid(picture, n, blocks, threads)
    picture.heading(LEFT, 98, f"Its last block: {warps} warps of {WARP} threads")
    row_of_boxes(picture, warps, 110, 24, lambda w: "blue" if w < full else "pale", lambda w: f"warp {w}")
    draw_last_warp(picture, n - active, active)
    return picture


def bytes_per_element(launches):
    """Of launches with one element per lane."""
    return sum(request["bytes"] for launch in launches for request in launch["requests"])


# Where the arrays of chapter 01 are in the picture of the round trip: the height of the middle of each.
ARRAY_ROWS = {"q": 70, "k": 98, "product": 136, "v": 174, "out": 202}
KERNEL_SPANS = {"multiply": (58, 134), "add": (138, 214), "fused": (58, 214)}
KERNEL_SAYS = {"multiply": ["multiply"], "add": ["add"], "fused": ["fused", "product stays", "in a register"]}


def draw_kernel_beside_memory(picture, left, launch):
    """A kernel, the arrays that it accesses, and an arrow for each access."""
    memory, kernel = left + 64, left + 116
    top, bottom = KERNEL_SPANS[launch["kernel"]]
    picture.box(kernel, top, 72, bottom - top, "pale", 4)
    for line, words in enumerate(KERNEL_SAYS[launch["kernel"]]):
        middle = (top + bottom) / 2
        if line == 0:
            picture.text(kernel + 36, middle, words, "bold", 11)
        else:
            picture.text(kernel + 36, middle + 6 + 12 * line, words, "", 9)
    for request in launch["requests"]:
        array, stores = request["array"], request["operation"] == "store"
        round_trip = array == "product"
        y = ARRAY_ROWS[array] + (-10 if round_trip and stores else 10 if round_trip else 0)
        ends = [(memory + 1, y), (kernel - 1, y)]
        picture.line(ends[::-1] if stores else ends, "arrow-orange" if round_trip else "arrow")
        picture.text((memory + kernel) / 2, y - 8, f"{request['bytes']} bytes", "", 9)


def draw_round_trip(programs):
    unfused = programs.trace("01_multiply_add", WARP, "1_unfused")
    fused = programs.trace("01_multiply_add", WARP, "2_fused")
    picture = Picture("The round trip of the product, unfused and fused", 246)
    for left, launches, name in ((8, unfused, "Two kernels"), (204, fused, "One kernel")):
        arrays = dict.fromkeys(request["array"] for launch in launches for request in launch["requests"])
        picture.left_text(left, 18, name, "bold", 12)
        picture.box(left, 48, 64, 176, "pale", 4)
        picture.text(left + 32, 40, "memory", "dim", 10)
        picture.text(left + 152, 40, "kernels" if len(launches) > 1 else "kernel", "dim", 10)
        for array in arrays:
            high = 38 if array == "product" else 22
            picture.cell(left + 5, ARRAY_ROWS[array] - high / 2, 54, high, array,
                         "orange" if array == "product" else "blue", 11)
        for launch in launches:
            draw_kernel_beside_memory(picture, left, launch)
        picture.heading(left, 236, f"{bytes_per_element(launches)} bytes per element")
    trip = bytes_per_element(unfused) - bytes_per_element(fused)
    of_product = sum(one["bytes"] for launch in unfused for one in requests_of(launch, array="product"))
    require(trip == of_product, "fusing saves something besides the round trip of the product")
    return picture


def draw_sector(picture, x, y, first, lane_at):
    """A sector as wide as 8 lanes, the floats from `first` on; `lane_at` is {offset in floats: lane}."""
    per_sector, wide, high = SECTOR // FLOAT, 11, 15
    lanes = [lane_at[first + i] for i in range(per_sector) if first + i in lane_at]
    picture.box(x, y, per_sector * wide, high, "pale")
    for i in range(per_sector):
        if first + i in lane_at:
            picture.box(x + i * wide, y, wide, high, "blue")
    picture.box(x, y, per_sector * wide, high)
    if len(lanes) == 1:
        picture.text(x + per_sector * wide / 2 + 6, y + high / 2, f"lane {lanes[0]}", "", 9)
    else:
        picture.text(x + per_sector * wide / 2, y + high + 9, f"lanes {lanes[0]}…{lanes[-1]}", "", 9)


def draw_sectors(programs):
    picture = Picture("Sectors that one request of a warp touches", 284)
    y = 16
    for stage, what in (("2_coalesced", "Lanes side by side"), ("1_one_block", "Lanes far apart")):
        launch, = programs.trace("00_first_kernel", 1 << 16, stage)
        request = requests_of(launch, operation="load")[0]
        lane_at = {offset // FLOAT: lane for lane, offset in lanes_of(request).items()}
        sectors = sorted({offset // SECTOR for offset in lanes_of(request).values()})
        require(len(sectors) == request["sectors"], f"{stage} touches another number of sectors")
        picture.heading(12, y, what)
        picture.text(WIDTH - 12, y, f"{len(sectors)} sectors: {len(sectors) * SECTOR} bytes moved, "
                     f"{len(lane_at) * FLOAT} used", "", 10, "end")
        for i, sector in enumerate(sectors):
            draw_sector(picture, 13 + 95 * (i % 4), y + 12 + 19 * (i // 4), sector * SECTOR // FLOAT, lane_at)
        y += 12 + 19 * (len(sectors) // 4) + 26
    picture.box(13, y - 8, 11, 15, "blue")
    picture.left_text(30, y, f"{FLOAT} bytes that a lane loads", size=10)
    picture.box(203, y - 8, 88, 15)
    picture.left_text(297, y, f"a sector, {SECTOR} bytes", size=10)
    return picture


def split(n, offset):
    """(head, vectors) as split() of chapter 01, of arrays that begin `offset` floats after a boundary."""
    head = min((4 - offset) % 4, n)
    return head, (n - head) // 4


def require_split_as_in(programs, n):
    """That stage 3 of chapter 01, whose arrays begin at multiples of 16 bytes, has the vectors of split()."""
    head, vectors = split(n, 0)
    launch, = programs.trace("01_multiply_add", n, "3_float4")
    wide = lanes_of(requests_of(launch, array="q", bytes=16)[0])
    single = lanes_of(requests_of(launch, array="q", bytes=4)[0])
    require(wide == {lane: 16 * lane for lane in range(vectors)}, "3_float4 has other vectors")
    tail = [FLOAT * i for i in range(head + 4 * vectors, n)]
    require(list(single.values()) == tail, "3_float4 has another tail")


def draw_head_vectors_tail(programs):
    n, offset, wide, left = 21, 1, 15.5, 14
    head, vectors = split(n, offset)
    require_split_as_in(programs, n - head)
    tail = n - head - 4 * vectors

    def x(element):
        return left + (offset + element) * wide

    picture = Picture("Head, vectors and tail of an array", 148)
    picture.heading(left, 15, "A float4 must begin at an address that is a multiple of 16:")
    for boundary in range(0, offset + n + 4, 4):
        at = left + boundary * wide
        picture.line([(at, 42), (at, 86)], "dashed", head=False)
        picture.text(at, 34, FLOAT * boundary, "dim", 9)
    for i in range(n):
        in_vector = head <= i < head + 4 * vectors
        picture.cell(x(i), 52, wide, 24, i, "blue" if in_vector else "orange", 9)
    for v in range(vectors):
        picture.line([(x(head + 4 * v) + 2, 92), (x(head + 4 * v + 4) - 2, 92)], "arrow-blue", head=False)
        picture.text(x(head + 4 * v + 2), 103, f"vector {v}", "", 10)
    for name, first, end in (("head", 0, head), ("tail", n - tail, n)):
        picture.line([(x(first) + 2, 92), (x(end) - 2, 92)], "arrow-orange", head=False)
        picture.text((x(first) + x(end)) / 2, 103, name, "", 10)
    picture.left_text(left, 130, f"Head and tail: {head} + {tail} loads of 4 bytes. "
                      f"Vectors: {vectors} loads of 16 bytes.")
    return picture


EIGHT_VALUES = [3, 1, 7, 0, 4, 1, 6, 3]


def steps_of_tree(launch):
    """Of block_sum in the first warp, for each step: {lane: (word that it adds to, word that it adds)}."""
    shared = requests_of(launch, space="shared", array="sums")
    steps = []
    for before, after in zip(range(len(shared)), range(2, len(shared))):
        one, other, result = shared[before], shared[before + 1], shared[after]
        if (one["operation"], other["operation"], result["operation"]) == ("load", "load", "store"):
            pairs = {lane: tuple(sorted((word // FLOAT, other["offsets"][lane] // FLOAT)))
                     for lane, word in lanes_of(one).items()}
            require(all(pair[0] == result["offsets"][lane] // FLOAT for lane, pair in pairs.items()),
                    "a step of the tree stores elsewhere")
            steps.append(pairs)
    return steps


def draw_tree(programs):
    launch = programs.trace("01_multiply_add", 1024, "5_reduced")[0]
    steps = steps_of_tree(launch)[-3:]  # those of the last eight sums
    values, wide, high, pitch, left = list(EIGHT_VALUES), 36, 22, 76, 26
    require([len(step) for step in steps] == [4, 2, 1], "the tree does not end with 4, 2 and 1 additions")

    def x(word):
        return left + 45 * word

    picture = Picture("A tree of sums with barriers, step by step", 282)
    picture.heading(left, 14, "The last eight sums, in shared memory")
    for word, value in enumerate(values):
        picture.cell(x(word), 28, wide, high, value, "blue", 11)
    for number_of_step, step in enumerate(steps):
        y = 28 + pitch * number_of_step
        picture.cell(left, y + high + 4, x(7) + wide - left, 15, "barrier: __syncthreads()", "orange", 10)
        below = y + pitch
        for lane, (kept, added) in step.items():
            values[kept] += values[added]
            top, middle = y + high + 20, wide / 2
            picture.line([(x(kept) + middle, top), (x(kept) + middle, below - 1)])
            picture.line([(x(added) + middle, top), (x(kept) + middle + 8, below - 1)], "arrow-blue")
            picture.cell(x(kept), below, wide, high, values[kept], "blue", 11)
        threads = f"threads 0–{max(step)} add" if len(step) > 1 else "thread 0 adds"
        picture.left_text(x(len(step)), below + high / 2, f"{threads} sums[t + {step[0][1]}]", size=10)
    require(values[0] == sum(EIGHT_VALUES), "the tree loses a value")
    return picture


def draw_butterfly(programs):
    rule = (ROOT / "common" / "kernels" / "sums.hpp").read_text()
    loop = ("for (int distance = 16; distance > 0; distance /= 2) "
            "value += __shfl_xor_sync(0xffffffffu, value, distance)")
    require(loop in rule, "warp_sum() has another loop")
    programs.trace("04_relu_layernorm", "1x256", "4_shuffles")  # its sums are right, or it ends with an error
    values, wide, high, pitch, left = list(EIGHT_VALUES), 34, 22, 68, 62

    def x(lane):
        return left + 41 * lane

    picture = Picture("The xor butterfly: the sum of all lanes in every lane", 288)
    for lane in range(8):
        picture.text(x(lane) + wide / 2, 14, lane, "dim", 10)
    picture.right_text(52, 14, "lane", "dim", 10)
    for row, distance in enumerate((0, 4, 2, 1)):
        y = 26 + pitch * row
        if distance:
            values = [value + values[lane ^ distance] for lane, value in enumerate(values)]
            picture.right_text(52, y - 24, f"xor {distance}", "bold", 11)
            for lane in range(8):
                start, end, top = x(lane) + wide / 2, x(lane ^ distance) + wide / 2, y - pitch + high
                picture.line([(start, top), (start, y - 1)])
                picture.line([(start, top), (end + (6 if start > end else -6), y - 1)], "arrow-blue")
        picture.right_text(52, y + high / 2, "value", "dim", 10)
        for lane, value in enumerate(values):
            picture.cell(x(lane), y, wide, high, value, "blue", 11)
    require(values == [sum(EIGHT_VALUES)] * 8, "the butterfly loses a value")
    picture.left_text(x(0), 263, "xor 4: each lane adds the value of lane (its number ^ 4).", size=10)
    picture.left_text(x(0), 278, "All 32 lanes of a warp take five steps: 16, 8, 4, 2, 1.", size=10)
    return picture


def wavefronts_of(words):
    """Of a request with a word per lane: the most words that share a bank."""
    banks = [word % WARP for word in set(words)]
    return max(banks.count(bank) for bank in banks)


def draw_words(picture, left, top, cell, kinds):
    """Words of shared memory in rows of 32, so that a bank is a column. `kinds` is {kind of box: words}."""
    wide, high = cell
    for kind, words in kinds.items():
        for word in words:
            picture.box(left + word % WARP * wide, top + word // WARP * high, wide - 0.5, high - 0.5, kind, 0)


def draw_conflicts(programs):
    """Of the trees of chapter 04, the load of the first warp with the most wavefronts."""
    picture = Picture("Banks that a warp reads in a step of a tree", 196)
    left, wide, high, y = 12, 11.75, 9, 40
    picture.left_text(left, 15, "bank 0", "dim", 10)
    picture.text(WIDTH / 2, 15, "32 banks, one word of each row in every bank", "dim", 10)
    picture.right_text(WIDTH - left, 15, "bank 31", "dim", 10)
    for stage, stride, what in (("2_conflicts", 8, "Stage 2: every eighth word"),
                                ("3_tree", 1, "Stage 3: neighbours")):
        launch, = programs.trace("04_relu_layernorm", "1x256", stage)
        request = max(requests_of(launch, operation="load", array="sums"), key=lambda one: one["wavefronts"])
        words = [offset // FLOAT for offset in lanes_of(request).values()]
        require(words[1] - words[0] == stride, f"{stage} loads other words")
        require(wavefronts_of(words) == request["wavefronts"], f"{stage} costs other wavefronts")
        first_row, last_row = min(words) // WARP, max(words) // WARP
        height = (last_row - first_row + 1) * high
        banks, waves = len({word % WARP for word in words}), request["wavefronts"]
        picture.heading(left, y, what)
        picture.right_text(WIDTH - left, y, f"{banks} banks: {waves} wavefront{'s' if waves > 1 else ''}")
        picture.box(left, y + 10, WARP * wide, height, "pale", 0)
        shown = [word - first_row * WARP for word in words]
        draw_words(picture, left, y + 10, (wide, high), {"blue-dot": shown})
        y += height + 36
    picture.box(left, 178, wide, high, "blue-dot", 0)
    picture.left_text(30, 182, "a word that a lane of the warp loads", size=10)
    return picture


def draw_banks(programs):
    launch, = programs.trace("05_linear_gelu", "32x32x32", "4_tiles")
    column = requests_of(launch, operation="load", space="shared", array="tile_w")[0]
    padded = [offset // FLOAT for offset in column["offsets"]]
    pitch = padded[1]
    require(wavefronts_of(padded) == column["wavefronts"], "a column of 4_tiles costs other wavefronts")
    measured = json.loads((ROOT / "tests" / "data" / "counters_h200.json").read_text())["kernels"]
    cell, top = 5, 62
    picture = Picture("A column of a tile in the banks of shared memory, without and with padding", 284)
    picture.heading(12, 15, "32 lanes read one column of a tile of 32 x 32 floats")
    for left, row, kernel in ((22, pitch - 1, "transpose, tile"), (218, pitch, "transpose, padded tile")):
        words = [lane * row for lane in range(WARP)]
        cost = wavefronts_of(words)
        on_gpu = measured[kernel]["shared_load_wavefronts"] / measured[kernel]["load_requests"]
        require(round(on_gpu) == cost, f"{kernel}: {on_gpu} wavefronts per request on the GPU")
        picture.left_text(left, 34, f"rows {row} words apart")
        picture.left_text(left, 53, "bank 0", "dim", 9)
        picture.right_text(left + WARP * cell, 53, "bank 31", "dim", 9)
        picture.box(left, top, WARP * cell, row * cell, "pale", 0)
        padding = range(WARP, row * WARP, row) if row > WARP else ()
        draw_words(picture, left, top, (cell, cell), {"orange-dot": padding, "blue-dot": words})
        waves = f"{cost} wavefront{'s' if cost > 1 else ''}"
        banks = len({word % WARP for word in words})
        picture.heading(left, 246, f"{banks} bank{'s' if banks > 1 else ''}: {waves}")
    picture.box(22, 262, 10, 10, "blue", 0)
    picture.left_text(37, 267, "a word of the column", size=10)
    picture.box(218, 262, 10, 10, "orange", 0)
    picture.left_text(233, 267, "padding, one word per row", size=10)
    return picture


def quantized(x, scale, zero_point):
    """As quantized() of chapter 03."""
    return max(-128, min(127, round(x / scale + zero_point)))


def signed(value):
    return str(value).replace("-", "−")


def draw_packing(programs):
    scale, zero_point, floats = 0.05, 10, [1.27, -2.31, 9.0, 0.02]
    packed, = programs.trace("03_quantize_int8", "1x128", "3_packed")
    single, = programs.trace("03_quantize_int8", "1x128", "2_fused")
    load, = requests_of(packed, operation="load")
    store, = requests_of(packed, operation="store")
    store_of_one, = requests_of(single, operation="store")
    count, wide, left = len(floats), 88, 24
    require(load["bytes"] == FLOAT * count and store["bytes"] == count, "3_packed has another width")

    picture = Picture("Four floats become four int8, stored together", 266)
    picture.heading(left, 15, f"One thread loads a float4, {load['bytes']} bytes")
    narrow = wide / FLOAT
    start = (WIDTH - count * narrow) / 2
    for i, value in enumerate(floats):
        x = left + i * wide
        picture.cell(x, 28, wide, 24, signed(f"{value:.2f}"), "blue", 11)
        picture.text(x + wide / 2, 84, signed(f"{value / scale + zero_point:.1f}"), "", 11)
        picture.line([(x + wide / 2, 93), (start + (i + 0.5) * narrow, 125)])
        step = signed(quantized(value, scale, zero_point))
        picture.cell(start + i * narrow, 126, narrow, 24, step, "orange", 9)
    picture.text(WIDTH / 2, 66, f"x / {scale} + {zero_point}", "dim", 10)
    picture.left_text(left, 138, "rounded, clamped", "dim", 10)
    picture.right_text(WIDTH - left, 138, f"one store: {store['bytes']} bytes", "bold", 11)
    picture.heading(left, 180, "What a warp stores in one request")
    for y, words, request in ((196, "one int8 per thread", store_of_one),
                              (228, "four int8 per thread", store)):
        picture.left_text(left, y + 12, words, size=10)
        for i in range(request["sectors"]):
            picture.cell(160 + 55 * i, y, 50, 24, "sector", "orange", 9)
    return picture


THREADS_OF_SM = 2048  # the most that a multiprocessor holds
LATENCY_NS = 600  # which chapter 01 assumes


def stage_on_h200(chapter, name):
    """(the run, the stage) of the committed measurement at the largest size."""
    runs = json.loads((ROOT / "plots" / "data" / "h200" / f"{chapter}.json").read_text())
    run = max(runs, key=lambda one: one["shape"])
    return run, next(stage for stage in run["stages"] if stage["name"] == name)


def multiprocessors():
    """Of an H200, as the CPU device has them."""
    source = (ROOT / "common" / "cpu" / "runtime.cpp").read_text()
    return int(re.search(r"int multiprocessors\(\) \{ return (\d+); \}", source)[1])


def draw_pipe(picture, y, share):
    """A pipe that is filled to this share by what is in flight, in slugs with gaps between them."""
    left, wide, high, slugs = 96, 200, 26, 8
    picture.box(left, y, wide, high, "pale", 13)
    each = (wide - 12) / slugs
    for i in range(slugs):
        picture.box(left + 6 + i * each, y + 4, each * min(1, share), high - 8, "blue-dot", 0)


def draw_bytes_in_flight(programs):
    picture = Picture("Bytes in flight: a pipe between memory and a multiprocessor", 252)
    run, _ = stage_on_h200("01_multiply_add", "1_unfused")
    per_ns = run["device"]["pin_gbytes_per_s"] / multiprocessors()  # GB/s are bytes per nanosecond
    needed = per_ns * LATENCY_NS
    picture.heading(12, 15, "A multiprocessor of an H200 and its share of memory")
    picture.left_text(12, 34, f"{per_ns:.0f} bytes per ns. If a load takes {LATENCY_NS} ns,")
    picture.left_text(12, 50, f"the pipe is full with {per_ns:.0f} × {LATENCY_NS} = {needed / 1000:.0f} KB "
                      "in flight.")
    picture.text(196, 78, f"memory — {LATENCY_NS} ns → multiprocessor", "dim", 10)
    picture.left_text(12, 78, "in flight", "dim", 10)
    picture.right_text(WIDTH - 12, 78, "bandwidth", "dim", 10)
    for i, name in enumerate(("1_unfused", "2_fused", "3_float4")):
        _, stage = stage_on_h200("01_multiply_add", name)
        launch = programs.trace("01_multiply_add", 4096, name)[0]
        of_thread = sum(request["bytes"] for request in requests_of(launch, operation="load"))
        in_flight = of_thread * stage["occupancy"] * THREADS_OF_SM
        y = 88 + 56 * i
        draw_pipe(picture, y, in_flight / needed)
        picture.heading(12, y + 7, f"stage {name[0]}")
        picture.left_text(12, y + 22, f"{in_flight / 1000:.0f} KB")
        picture.text(196, y + 36, f"{in_flight / needed:.1f} of a full pipe", "", 10)
        reached = stage["gbytes_per_s"] / run["device"]["pin_gbytes_per_s"]
        picture.right_text(WIDTH - 12, y + 13, f"{100 * reached:.0f} %", "bold", 12)
    return picture


def times_read(launch, array):
    """How often the first warp loads each byte of an array."""
    loads = [offset + byte for request in requests_of(launch, operation="load", array=array)
             for offset in lanes_of(request).values() for byte in range(request["bytes"])]
    return len(loads) / len(set(loads))


def draw_row_in_registers(programs):
    columns, thread = 512, 5
    launch, = programs.trace("04_relu_layernorm", f"1x{columns}", "10_one_read")
    passes, = programs.trace("04_relu_layernorm", f"1x{columns}", "8_three_passes")
    loads = requests_of(launch, operation="load", array="x")
    held = [request["offsets"][thread] // request["bytes"] for request in loads]  # vectors
    vectors, left, gap = columns * FLOAT // loads[0]["bytes"], 12, 6
    chunk = (WIDTH - 2 * left + gap) / len(held) - gap
    threads = launch["block"][0]
    apart = list(range(thread, vectors, threads))
    require(held == apart, "10_one_read holds other vectors")

    picture = Picture("A row held in registers", 262)
    picture.heading(left, 15, f"A row of {vectors} float4 in memory; thread {thread} loads {len(held)}")
    for j, vector in enumerate(held):
        x = left + j * (chunk + gap)
        at = x + (vector - j * threads) * chunk / threads
        register = 88 + 74 * j
        picture.box(x, 28, chunk, 20, "pale", 0)
        picture.box(at, 28, chunk / threads, 20, "blue-dot", 0)
        picture.text(x + chunk / 2 + 8, 38, vector, "", 10)
        picture.line([(at + 1, 50), (register + 33, 98)], "arrow-blue")
        picture.cell(register, 100, 66, 22, f"held[{j}]", "blue", 11)
    require(times_read(launch, "x") == 1, "10_one_read reads x again")
    picture.heading(left, 80, "one read")
    picture.box(left, 92, WIDTH - 2 * left, 38, "plain", 4)
    picture.left_text(left + 6, 104, "registers of", size=10)
    picture.left_text(left + 6, 118, f"thread {thread}", size=10)
    for i, what in enumerate(("sum: mean", "squares: variance", "normalise, store")):
        x = left + 127 * i
        picture.line([(x + 61, 132), (x + 61, 162)])
        picture.box(x, 164, 122, 40, "pale", 4)
        picture.text(x + 61, 176, f"pass {i + 1}", "bold")
        picture.text(x + 61, 192, what, "", 10)
    picture.left_text(left, 226, "All three passes read the registers.")
    picture.left_text(left, 244, f"In stage 8, the same passes read x from memory "
                      f"{times_read(passes, 'x'):.0f} times.")
    return picture


PICTURES = {
    "grid_and_guard": draw_grid_and_guard,
    "round_trip": draw_round_trip,
    "sectors": draw_sectors,
    "head_vectors_tail": draw_head_vectors_tail,
    "tree": draw_tree,
    "butterfly": draw_butterfly,
    "conflicts": draw_conflicts,
    "banks": draw_banks,
    "packing": draw_packing,
    "bytes_in_flight": draw_bytes_in_flight,
    "row_in_registers": draw_row_in_registers,
}


# --- Main ---


def draw_all(programs, out):
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (out / f"{name}.svg").write_text(draw(programs).svg())


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build" / "bin", metavar="FOLDER",
                        help="where the chapters' programs are")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "plots" / "diagrams", metavar="FOLDER",
                        help="where the pictures go")
    options = parser.parse_args()
    try:
        draw_all(Programs(options.programs.resolve()), options.out)
    except Wrong as wrong:
        print(f"diagrams.py: {wrong}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"diagrams.py: {error}", file=sys.stderr)
        sys.exit(3)
    print(f"{len(PICTURES)} pictures in {options.out}")


if __name__ == "__main__":
    main()
