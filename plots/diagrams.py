"""Draws the pictures of the lessons' mechanisms as SVG, into plots/diagrams.

    python3 plots/diagrams.py                                    with the programs in build/bin
    python3 plots/diagrams.py --programs FOLDER --out FOLDER

The accesses of lanes come from traces of the chapters' programs on the CPU device (docs/json.md), and an
element that rounds in two ways from `claims` (`cmake --build build --target claims`). Other values, such as
those of a tree, are computed here by the kernel's rule, and checked where a program says enough about them.
Exit status 2: a program does not do what its picture says; 3: a program is missing.

One file serves light and dark. Its colours follow `prefers-color-scheme`, which a browser answers for an
image with the color-scheme of the page around it: that of GitHub's theme, and in the book that of its switch.
All lengths are pixels at a width of 400, where the smallest text has 9.
"""

import collections
import json
import math
import pathlib
import re
import struct
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

    def counts(self, chapter, size, stage):
        """The CPU device's counts of a stage: `traffic` of docs/json.md."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "counts.json"
            self.run(chapter, "--device", "cpu", "--size", size, "--stage", stage, "--json", file)
            return json.loads(file.read_text())[0]["stages"][0]["traffic"]


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
    launch, = programs.trace("00_first_kernel", n, "03_grid")
    blocks, threads = launch["grid"][0], launch["block"][0]
    elements = n - (blocks - 1) * threads  # of the last block
    warps, full, active = threads // WARP, elements // WARP, elements % WARP
    # A trace has the first warp alone, so this one is of a launch whose first warp is like that last one.
    small, = programs.trace("00_first_kernel", active, "03_grid")
    for request in small["requests"]:
        require(list(lanes_of(request)) == list(range(active)), "the guard of 03_grid lets other lanes in")

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


# Where the arrays and the kernels of a chain are in the picture of its round trips: the height of the middle
# of each array, the top and the bottom of each kernel, and what stands in it.
RoundTrips = collections.namedtuple("RoundTrips", "arrays spans says between")
MULTIPLY_ADD = RoundTrips({"q": 70, "k": 98, "product": 136, "v": 174, "out": 202},
                          {"multiply": (58, 134), "add": (138, 214), "fused": (58, 214)},
                          {"multiply": ["multiply"], "add": ["add"],
                           "fused": ["fused", "product stays", "in a register"]}, ["product"])
ADD_MUL_EXP = RoundTrips({"x": 68, "y": 94, "added": 134, "doubled": 186, "out": 226},
                         {"add": (56, 131), "twice": (137, 183), "exponential": (189, 238),
                          "fused": (56, 238)},
                         {"add": ["add"], "twice": ["twice"], "exponential": ["exp"],
                          "fused": ["fused", "both values", "stay in", "registers"]}, ["added", "doubled"])


def draw_kernel_beside_memory(picture, left, launch, chain):
    """A kernel, the arrays that it accesses, and an arrow for each access."""
    memory, kernel = left + 64, left + 116
    top, bottom = chain.spans[launch["kernel"]]
    picture.box(kernel, top, 72, bottom - top, "pale", 4)
    for line, words in enumerate(chain.says[launch["kernel"]]):
        middle = (top + bottom) / 2
        if line == 0:
            picture.text(kernel + 36, middle, words, "bold", 11)
        else:
            picture.text(kernel + 36, middle + 6 + 12 * line, words, "", 9)
    for request in launch["requests"]:
        array, stores = request["array"], request["operation"] == "store"
        round_trip = array in chain.between
        y = chain.arrays[array] + (-10 if round_trip and stores else 10 if round_trip else 0)
        ends = [(memory + 1, y), (kernel - 1, y)]
        picture.line(ends[::-1] if stores else ends, "arrow-orange" if round_trip else "arrow")
        picture.text((memory + kernel) / 2, y - 8, f"{request['bytes']} bytes", "", 9)


def draw_round_trips(programs, title, height, chapter, names, chain):
    """`names`: what stands over the unfused and over the fused chain."""
    unfused = programs.trace(chapter, WARP, "01_unfused")
    fused = programs.trace(chapter, WARP, "02_fused")
    picture = Picture(title, height)
    for left, launches, name in zip((8, 204), (unfused, fused), names):
        arrays = dict.fromkeys(request["array"] for launch in launches for request in launch["requests"])
        picture.left_text(left, 18, name, "bold", 12)
        picture.box(left, 48, 64, height - 70, "pale", 4)
        picture.text(left + 32, 40, "memory", "dim", 10)
        picture.text(left + 152, 40, "kernels" if len(launches) > 1 else "kernel", "dim", 10)
        for array in arrays:
            high = 38 if array in chain.between else 22
            picture.cell(left + 5, chain.arrays[array] - high / 2, 54, high, array,
                         "orange" if array in chain.between else "blue", 11)
        for launch in launches:
            draw_kernel_beside_memory(picture, left, launch, chain)
        picture.heading(left, height - 10, f"{bytes_per_element(launches)} bytes per element")
    trip = bytes_per_element(unfused) - bytes_per_element(fused)
    between = sum(one["bytes"] for array in chain.between for launch in unfused
                  for one in requests_of(launch, array=array))
    require(trip == between, "fusing saves something besides the round trips")
    return picture


def draw_round_trip(programs):
    return draw_round_trips(programs, "The round trip of the product, unfused and fused", 246,
                            "01_multiply_add", ("Two kernels", "One kernel"), MULTIPLY_ADD)


def draw_chain(programs):
    return draw_round_trips(programs, "The round trips of three operations, unfused and fused", 270,
                            "02_add_mul_exp", ("Three kernels", "One kernel"), ADD_MUL_EXP)


def draw_links(programs):
    source = (ROOT / "chapters" / "02_add_mul_exp" / "05_chain.cuh").read_text()
    chain = re.search(r"Chain<(\w+, \w+, \w+)>, float, float", source)[1].split(", ")
    does = {"Add": ("a + b", lambda a, b: a + b), "Twice": ("2 a", lambda a: 2 * a),
            "Exp": ("exp(a)", math.exp)}
    programs.trace("02_add_mul_exp", 256, "05_chain")  # its results are right, or it ends with an error
    picture = Picture("A chain of links, composed into one function", 156)
    y, wide, values = 66, 62, [0.25, 0.5]
    picture.heading(LEFT, 16, "The links are functions of registers:")
    for i, value in enumerate(values):
        picture.text(26, y - 13 + 26 * i, value, "bold")
        picture.text(52, y - 13 + 26 * i, "xy"[i], "dim", 10)
        picture.line([(60, y - 13 + 26 * i), (83, y - 6 + 12 * i)])
    for i, link in enumerate(chain):
        says, function = does[link]
        x = 85 + 96 * i
        picture.box(x, y - 22, wide, 44, "blue", 4)
        picture.text(x + wide / 2, y - 8, link, "on-blue")
        picture.text(x + wide / 2, y + 9, says, "on-blue", 10)
        values = [function(*values)]
        picture.line([(x + wide + 1, y), (x + wide + 32 + 10 * (i == 2), y)])
        picture.text(x + wide + 16 + 14 * (i == 2), y - 9, f"{values[0]:.3g}", "bold", 10)
    picture.box(70, 32, 284, 68, "plain", 6)
    picture.text(212, 112, f"Chain<{', '.join(chain)}>: one function of x and y", "", 10)
    picture.left_text(LEFT, 141, "One kernel loads x and y, calls the function, and stores its result.")
    return picture


def bits_of(value, form):
    """The bits of a number in a format of struct, as a string."""
    code = struct.pack(">" + form, value)
    return "".join(f"{byte:08b}" for byte in code)


def draw_float_formats(programs):
    """float32, float16 and bfloat16, which is the upper half of a float32."""
    launch, = programs.trace("02_add_mul_exp", 256, "07_float16")
    eight = requests_of(launch, operation="load")[0]["bytes"]
    require(eight == 8 * len(bits_of(1, "e")) // 8, "07_float16 has another number of elements in a load")
    picture, cell, left = Picture("The bits of float32, float16 and bfloat16", 216), 9.4, 84
    y = 34
    picture.left_text(left, 16, "sign", "dim", 10)
    picture.left_text(left + 44, 16, "exponent: range", "dim", 10)
    picture.left_text(left + 148, 16, "fraction: precision", "dim", 10)
    for x, kind in ((left - 12, "pale"), (left + 31, "orange"), (left + 135, "blue")):
        picture.box(x, 11, 9, 9, kind)
    for name, size, exponent in (("float32", 32, 8), ("float16", 16, 5), ("bfloat16", 16, 8)):
        bits = bits_of(1.5, "e" if name == "float16" else "f")[:size]
        fraction = size - 1 - exponent
        largest = (2 - 2 ** -fraction) * 2.0 ** (2 ** (exponent - 1) - 1)
        if name == "float16":
            require(struct.unpack(">e", b"\x7b\xff")[0] == largest, "float16 has another largest number")
        picture.heading(12, y + 9, name)
        picture.left_text(12, y + 24, f"{size // 8} bytes", "dim", 10)
        for i, bit in enumerate(bits):
            kind = "pale" if i == 0 else "orange" if i <= exponent else "blue"
            picture.cell(left + i * cell, y, cell, 18, bit, kind, 9)
        after_1 = f"the next number after 1 is 1 + 1/{2 ** fraction}"
        picture.left_text(left, y + 31, f"up to {largest:.5g}; {after_1}", size=10)
        y += 58
    picture.left_text(12, 206, "The boxes hold the number 1.5.", size=10)
    return picture


def draw_half2(programs):
    """The arithmetic of __hfma2, and what a warp loads in a request with 1, 2 and 8 halves per lane."""
    a, x, y = 1.5, (0.75, -2.0), (0.125, 4.0)
    launch, = programs.trace("02_add_mul_exp", 256, "07_float16")
    eight = requests_of(launch, operation="load")[0]
    half = len(bits_of(a, "e")) // 8
    picture = Picture("Two halves in one register, and what wider loads bring", 258)
    picture.heading(12, 16, "__half2: two float16 in 4 bytes, one instruction for both")
    rows = (("__half2half2(a)", (a, a), "blue"), ("x2[i]", x, "blue"), ("y2[i]", y, "blue"),
            ("__hfma2(…)", [a * one + other for one, other in zip(x, y)], "orange"))
    for row, (name, values, kind) in enumerate(rows):
        top = 32 + 30 * row + (10 if kind == "orange" else 0)
        picture.right_text(136, top + 11, name, "", 10)
        for i, value in enumerate(values):
            require(struct.unpack("e", struct.pack("e", value))[0] == value, f"{value} is no float16")
            picture.cell(146 + 66 * i, top, 66, 22, signed(f"{value:g}"), kind)
        says = ("a, twice", "× two of x", "+ two of y", "two results")[row]
        picture.left_text(288, top + 11, says, "dim", 10)
    picture.line([(146, 126), (278, 126)], "dashed", head=False)
    picture.heading(12, 180, "What one load request of a warp moves")
    for i, count in enumerate((1, 2, 8)):
        top, moved = 194 + 20 * i, count * half * WARP
        require(count < 8 or (eight["bytes"], eight["sectors"]) == (count * half, moved // SECTOR),
                "07_float16 loads something else")
        picture.left_text(12, top + 7, ("__half", "__half2", "eight halves")[i], size=10)
        for sector in range(moved // SECTOR):
            picture.box(80 + 12 * sector, top, 11, 14, "blue")
        says = f"{moved // SECTOR} sectors, {moved} bytes"
        picture.left_text(80 + 12 * (moved // SECTOR) + 5, top + 7, says, size=10)
    return picture


def draw_launches(programs):
    """The time of the smallest size, warm, on the H200: one launch, and sixteen in three ways."""
    data = json.loads((ROOT / "plots" / "data" / "h200" / "02_add_mul_exp.json").read_text())
    run = min(data, key=lambda one: one["shape"])
    stages = {stage["name"]: stage for stage in run["stages"]}
    sixteen = programs.trace("02_add_mul_exp", run["shape"][0], "08_many")
    bars = (("1 launch in a graph", "02_fused", "time_warm_us", 1, "blue"),
            ("16 in a graph, may overlap", "08_dependent", "time_warm_us", 16, "blue"),
            ("16 in a graph, each waits", "08_many", "time_warm_us", 16, "blue"),
            ("16 that the host starts", "08_many", "time_launched_us", 16, "orange"))
    require(len(sixteen) == 16, f"08_many starts {len(sixteen)} kernels")
    picture, left = Picture("What launches cost on small arrays", 196), 12
    picture.heading(left, 16, f"H200, n = {run['shape'][0]}: the launches are nearly all of the time")
    scale = 316 / max(stages[name][field]["median"] for _, name, field, *_ in bars)
    for i, (says, name, field, kernels, kind) in enumerate(bars):
        y, us = 34 + 41 * i, stages[name][field]["median"]
        each = us * scale / kernels
        picture.left_text(left, y + 5, says, size=10)
        for one in range(kernels):
            picture.box(left + one * each, y + 13, each, 18, kind, 0)
        picture.left_text(left + us * scale + 6, y + 22, f"{us:.1f} µs", "bold")
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
    for stage, what in (("02_coalesced", "Lanes side by side"), ("01_one_block", "Lanes far apart")):
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
    launch, = programs.trace("01_multiply_add", n, "03_float4")
    wide = lanes_of(requests_of(launch, array="q", bytes=16)[0])
    single = lanes_of(requests_of(launch, array="q", bytes=4)[0])
    require(wide == {lane: 16 * lane for lane in range(vectors)}, "03_float4 has other vectors")
    tail = [FLOAT * i for i in range(head + 4 * vectors, n)]
    require(list(single.values()) == tail, "03_float4 has another tail")


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
    launch = programs.trace("01_multiply_add", 1024, "05_reduced")[0]
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


def draw_butterfly_of(title, combine, says):
    """Eight lanes; `combine` is what a lane does with its own value and another's."""
    values, wide, high, pitch, left = list(EIGHT_VALUES), 34, 22, 68, 62

    def x(lane):
        return left + 41 * lane

    picture = Picture(title, 288)
    for lane in range(8):
        picture.text(x(lane) + wide / 2, 14, lane, "dim", 10)
    picture.right_text(52, 14, "lane", "dim", 10)
    for row, distance in enumerate((0, 4, 2, 1)):
        y = 26 + pitch * row
        if distance:
            values = [combine([value, values[lane ^ distance]]) for lane, value in enumerate(values)]
            picture.right_text(52, y - 24, f"xor {distance}", "bold", 11)
            for lane in range(8):
                start, end, top = x(lane) + wide / 2, x(lane ^ distance) + wide / 2, y - pitch + high
                picture.line([(start, top), (start, y - 1)])
                picture.line([(start, top), (end + (6 if start > end else -6), y - 1)], "arrow-blue")
        picture.right_text(52, y + high / 2, "value", "dim", 10)
        for lane, value in enumerate(values):
            picture.cell(x(lane), y, wide, high, value, "blue", 11)
    require(values == [combine(EIGHT_VALUES)] * 8, "the butterfly loses a value")
    picture.left_text(x(0), 263, says, size=10)
    picture.left_text(x(0), 278, "All 32 lanes of a warp take five steps: 16, 8, 4, 2, 1.", size=10)
    return picture


def draw_butterfly(programs):
    rule = (ROOT / "chapters" / "04_relu_layernorm" / "04_shuffles.cuh").read_text()
    loop = ("for (int distance = 16; distance > 0; distance /= 2) "
            "value += __shfl_xor_sync(0xffffffffu, value, distance)")
    require(loop in rule, "sum_of_warp() has another loop")
    programs.trace("04_relu_layernorm", "1x256", "04_shuffles")  # wrong sums end it with an error
    return draw_butterfly_of("The xor butterfly: the sum of all lanes in every lane", sum,
                             "xor 4: each lane adds the value of lane (its number ^ 4).")


def draw_butterfly_largest(programs):
    rule = (ROOT / "chapters" / "03_quantize_int8" / "08_one_read.cuh").read_text()
    loop = ("for (int distance = 16; distance > 0; distance /= 2)\n"
            "    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance))")
    require(loop in rule, "warp_largest() has another loop")
    programs.trace("03_quantize_int8", "1x256", "08_one_read")  # as above
    return draw_butterfly_of("The xor butterfly: the largest value of all lanes in every lane", max,
                             "xor 4: each lane also sees the value of lane (its number ^ 4).")


def wavefronts_of(words):
    """The wavefronts of a request with a word per lane: the most words that share a bank."""
    banks = [word % WARP for word in set(words)]
    return max(banks.count(bank) for bank in banks)


def draw_words(picture, left, top, cell, kinds):
    """Words of shared memory in rows of 32, so that a bank is a column. `kinds` is {kind of box: words}."""
    wide, high = cell
    for kind, words in kinds.items():
        for word in words:
            picture.box(left + word % WARP * wide, top + word // WARP * high, wide - 0.5, high - 0.5, kind, 0)


def draw_conflicts(programs):
    """The first warp's load with the most wavefronts, in each tree of chapter 04."""
    picture = Picture("Banks that a warp reads in a step of a tree", 196)
    left, wide, high, y = 12, 11.75, 9, 40
    picture.left_text(left, 15, "bank 0", "dim", 10)
    picture.text(WIDTH / 2, 15, "32 banks, one word of each row in every bank", "dim", 10)
    picture.right_text(WIDTH - left, 15, "bank 31", "dim", 10)
    for stage, stride, what in (("02_conflicts", 8, "Stage 2: every eighth word"),
                                ("03_tree", 1, "Stage 3: neighbours")):
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
    launch, = programs.trace("05_linear_gelu", "32x32x32", "04_tiles")
    column = requests_of(launch, operation="load", space="shared", array="tile_w")[0]
    padded = [offset // FLOAT for offset in column["offsets"]]
    pitch = padded[1]
    require(wavefronts_of(padded) == column["wavefronts"], "a column of 04_tiles costs other wavefronts")
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
    packed, = programs.trace("03_quantize_int8", "1x128", "03_packed")
    single, = programs.trace("03_quantize_int8", "1x128", "02_fused")
    load, = requests_of(packed, operation="load")
    store, = requests_of(packed, operation="store")
    store_of_one, = requests_of(single, operation="store")
    count, wide, left = len(floats), 88, 24
    require(load["bytes"] == FLOAT * count and store["bytes"] == count, "03_packed has another width")

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
    """The number that an H200 has, as the CPU device says."""
    source = (ROOT / "cpu_device" / "findings" / "launch_limits.hpp").read_text()
    return int(re.search(r"int multiprocessors = (\d+);", source)[1])


def draw_pipe(picture, y, share):
    """A pipe that is filled to this share by what is in flight, in slugs with gaps between them."""
    left, wide, high, slugs = 96, 200, 26, 8
    picture.box(left, y, wide, high, "pale", 13)
    each = (wide - 12) / slugs
    for i in range(slugs):
        picture.box(left + 6 + i * each, y + 4, each * min(1, share), high - 8, "blue-dot", 0)


def draw_bytes_in_flight(programs):
    picture = Picture("Bytes in flight: a pipe between memory and a multiprocessor", 252)
    run, _ = stage_on_h200("01_multiply_add", "01_unfused")
    per_ns = run["device"]["pin_gbytes_per_s"] / multiprocessors()  # GB/s are bytes per nanosecond
    needed = per_ns * LATENCY_NS
    picture.heading(12, 15, "A multiprocessor of an H200 and its share of memory")
    picture.left_text(12, 34, f"{per_ns:.0f} bytes per ns. If a load takes {LATENCY_NS} ns,")
    picture.left_text(12, 50, f"the pipe is full with {per_ns:.0f} × {LATENCY_NS} = {needed / 1000:.0f} KB "
                      "in flight.")
    picture.text(196, 78, f"memory — {LATENCY_NS} ns → multiprocessor", "dim", 10)
    picture.left_text(12, 78, "in flight", "dim", 10)
    picture.right_text(WIDTH - 12, 78, "bandwidth", "dim", 10)
    for i, name in enumerate(("01_unfused", "02_fused", "03_float4")):
        _, stage = stage_on_h200("01_multiply_add", name)
        launch = programs.trace("01_multiply_add", 4096, name)[0]
        of_thread = sum(request["bytes"] for request in requests_of(launch, operation="load"))
        in_flight = of_thread * stage["occupancy"] * THREADS_OF_SM
        y = 88 + 56 * i
        draw_pipe(picture, y, in_flight / needed)
        picture.heading(12, y + 7, f"stage {int(name[:2])}")
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
    passes, = programs.trace("04_relu_layernorm", f"1x{columns}", "08_three_passes")
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


def draw_exchange(programs):
    """Which float4 a lane loads in stage 4 of chapter 03, where their bytes go, and what it stores."""
    lane, wide, left = 5, 11.75, 12
    launch, = programs.trace("03_quantize_int8", "1x512", "04_wide")
    loads = requests_of(launch, operation="load", space="global")
    puts = requests_of(launch, operation="store", space="shared")
    take, = requests_of(launch, operation="load", space="shared")
    store, = requests_of(launch, operation="store", space="global")
    loaded = [request["offsets"][lane] // request["bytes"] for request in loads]
    put = [request["offsets"][lane] // request["bytes"] for request in puts]
    taken = [take["offsets"][lane] // 4 + i for i in range(take["bytes"] // 4)]
    require(loaded == put and store["offsets"] == take["offsets"], "04_wide exchanges something else")
    rows = len(loaded)

    def draw_rows(top, high, blue, orange):
        for word in range(rows * WARP):
            kind = "blue-dot" if word in blue else "orange-dot" if word in orange else "pale"
            picture.box(left + word % WARP * wide, top + word // WARP * high, wide - 1, high - 1, kind, 1)

    picture = Picture("Lanes exchange bytes through shared memory", 266)
    picture.heading(left, 15, f"1. Lane {lane} loads {rows} float4 of x, one in each request")
    draw_rows(26, 11, loaded, ())
    numbers = ", ".join(map(str, loaded))
    picture.left_text(left, 80, f"float4 {numbers}: neighbouring lanes load neighbours.", size=10)
    picture.heading(left, 106, f"2. It writes {puts[0]['bytes']} bytes for each into shared memory")
    draw_rows(117, 11, put, taken)
    picture.box(left, 166, 9, 9, "blue-dot", 0)
    picture.left_text(left + 14, 171, f"written by lane {lane}", size=10)
    picture.box(left + 130, 166, 9, 9, "orange-dot", 0)
    picture.left_text(left + 144, 171, f"read by lane {lane}, after __syncwarp()", size=10)
    picture.heading(left, 198, f"3. It reads {take['bytes']} neighbouring bytes and stores them in q")
    for word in range(WARP):
        kind = "orange-dot" if word == lane else "pale"
        picture.box(left + word * wide, 209, wide - 1, 14, kind, 1)
    first = store["offsets"][lane]
    picture.left_text(left, 238, f"bytes {first} to {first + store['bytes'] - 1} of the warp's 512", size=10)
    picture.left_text(left, 254, f"One store request of the warp fills {store['sectors']} sectors.", size=10)
    return picture


def single(value):
    """The float32 nearest to a value."""
    return struct.unpack("f", struct.pack("f", value))[0]


def next_single(value, steps):
    """The float32 so many steps further from 0."""
    return struct.unpack("f", struct.pack("i", struct.unpack("i", struct.pack("f", value))[0] + steps))[0]


def example_of_rounding(programs):
    """x and the scale of an element that `claims rounding` prints: 1 / scale gives it another step."""
    printed = programs.run("claims", "rounding")
    said = re.search(r"scale (\S+)\n(?: .*\n)*? +for example (\S+) becomes (\S+), not (-?\d+)", printed)
    scale, multiplied, divided = single(float(said[1])), int(said[3]), int(said[4])
    for steps in (0, -1, 1):  # it prints x to seven digits
        x = next_single(single(float(said[2])), steps)
        if round(x / scale) == divided and round(single(x * single(1 / scale))) == multiplied:
            return x, scale
    raise Wrong("claims rounding prints an element that rounds in another way")


def draw_corrected_quotient(programs):
    x, scale = example_of_rounding(programs)
    reciprocal, quotient = single(1 / scale), single(x / scale)
    product = single(x * reciprocal)
    remainder = single(x - scale * product)  # exact in double precision, as in a fused multiply-add
    corrected = single(product + remainder * reciprocal)
    require(corrected == quotient != product, "the correction does not give the quotient")
    step = abs(next_single(product, 1) - product)
    centre, per_step, y = 200, 84, 112

    def place(value):
        return centre + (value - product) / step * per_step

    picture = Picture("A product that misses the quotient, and its correction", 236)
    picture.heading(LEFT, 16, f"x = {signed(f'{x:.7f}')}, scale = {single(scale):.10f}")
    picture.left_text(LEFT, 36, "The floats near x / scale, and what each rounds to:", size=10)
    picture.line([(LEFT, y), (WIDTH - LEFT, y)], "dashed", head=False)
    for steps in (-2, -1, 0, 1, 2):
        value = product + steps * step
        picture.line([(place(value), y - 7), (place(value), y + 7)], "arrow", head=False)
        picture.text(place(value), y + 17, signed(f"{value:.5f}"), "dim", 9)
        picture.text(place(value), y + 31, "→ " + signed(round(value)), "bold", 11)
    exact = place(x / scale)
    picture.line([(exact, 66), (exact, y - 2)], "arrow-orange")
    picture.text(exact, 57, "x / scale", "bold", 10)
    picture.line([(place(product), 82), (place(product), y - 8)], "arrow-blue")
    picture.text(place(product), 74, "x × (1 / scale)", "bold", 10)
    ends = [(place(product), 152), (place(product), 164), (place(corrected), 164), (place(corrected), 150)]
    picture.line(ends, "arrow-blue")
    picture.text((place(product) + place(corrected)) / 2, 176, "corrected", "bold", 10)
    picture.left_text(LEFT, 202, f"remainder = x − scale × product = {signed(f'{remainder:.3g}')}", size=10)
    picture.left_text(LEFT, 220, f"product + remainder × (1 / scale) = {signed(f'{corrected:.7f}')}", size=10)
    return picture


def draw_tree_of_six(programs):
    """The last rounds of a tree in which an odd number of values is left: those of 96 threads."""
    left_over = 96
    while left_over > 6:
        left_over = (left_over + 1) // 2
    require(left_over == 6, "96 threads do not come to 6 values")
    values, wide, high, pitch, left = EIGHT_VALUES[:left_over], 40, 22, 74, 26

    def x(word):
        return left + 52 * word

    picture = Picture("A tree over six values, step by step", 272)
    picture.heading(left, 14, "The last six values of a block of 96 threads")
    largest, y = max(values), 28
    for word, value in enumerate(values):
        picture.cell(x(word), y, wide, high, value, "blue", 11)
    while len(values) > 1:
        half = (len(values) + 1) // 2
        picture.cell(left, y + high + 4, x(5) + wide - left, 15, "barrier: __syncthreads()", "orange", 10)
        top, below = y + high + 20, y + pitch
        for word in range(half):
            picture.line([(x(word) + wide / 2, top), (x(word) + wide / 2, below - 1)])
            if word + half < len(values):
                ends = [(x(word + half) + wide / 2, top), (x(word) + wide / 2 + 8, below - 1)]
                picture.line(ends, "arrow-blue")
        pairs = len(values) - half
        values = [max(values[word::half]) for word in range(half)]
        for word, value in enumerate(values):
            picture.cell(x(word), below, wide, high, value, "blue", 11)
        says = f"{pairs} pair{'s' if pairs > 1 else ''}, {half} apart"
        says += "" if pairs == half else "; one waits"
        picture.left_text(x(half) + 4, below + high / 2, says, size=10)
        y = below
    require(values == [largest], "the tree loses a value")
    return picture


def draw_row_on_chip(programs):
    """Where stage 8 of chapter 03 keeps a row that is too long for the registers of its block."""
    columns = 32768
    launch, = programs.trace("03_quantize_int8", f"1x{columns}", "08_one_read")
    twice, = programs.trace("03_quantize_int8", f"1x{columns}", "07_one_kernel")
    loads = requests_of(launch, operation="load", array="x")
    copies = requests_of(launch, operation="copy", array="x")
    threads, kib = launch["block"][0], 1024
    row = columns * FLOAT
    held = len(loads) * loads[0]["bytes"] * threads
    staged = len(copies) * copies[0]["bytes"] * threads
    require(held + staged == row, "08_one_read keeps another part of the row")
    picture, wide, y = Picture("A row that stays on the multiprocessor", 232), WIDTH - 24, 28
    picture.heading(LEFT, 15, f"A row of {columns} floats, {row // kib} KiB, and its {threads} threads")
    in_registers = held / row * wide
    picture.cell(LEFT, y, in_registers, 24, f"{held // kib} KiB", "blue")
    picture.cell(LEFT + in_registers, y, wide - in_registers, 24, f"{staged // kib} KiB", "orange")
    picture.line([(LEFT + in_registers / 2, 54), (70, 84)], "arrow-blue")
    picture.line([(LEFT + in_registers + (wide - in_registers) / 2, 54), (270, 84)], "arrow-orange")
    picture.text(58, 68, "loads", "dim", 10, "end")
    picture.text(246, 68, "asynchronous copies", "dim", 10, "end")
    for x, width, name, says in ((LEFT, 150, "registers", f"{len(loads)} float4 in each thread"),
                                 (178, 210, "shared memory", f"{len(copies)} float4 for each thread")):
        picture.box(x, 86, width, 44, "pale", 4)
        picture.text(x + width / 2, 100, name, "bold")
        picture.text(x + width / 2, 117, says, "", 10)
    passes = (("pass 1", "largest absolute value"), ("pass 2", "divide, round, store"))
    for i, (name, says) in enumerate(passes):
        x = LEFT + 192 * i
        picture.box(x, 162, 184, 36, "pale", 4)
        picture.text(x + 92, 173, name, "bold")
        picture.text(x + 92, 188, says, "", 10)
        picture.line([(87, 132), (x + 70, 160)])
        picture.line([(283, 132), (x + 114, 160)])
    picture.left_text(LEFT, 218, f"x is read once. Stage 7 reads it {times_read(twice, 'x'):.0f} times.")
    return picture


def elements_of_lane_zero(launch, array):
    """Which elements lane 0 accesses, in order, of an array of floats."""
    return [request["offsets"][0] // FLOAT + j for request in requests_of(launch, array=array)
            for j in range(request["bytes"] // FLOAT)]


def draw_shared_call(programs):
    picture = Picture("How the numbers of one Philox call are shared out in four stages", 330)
    picture.heading(LEFT, 16, "One call gives lane 0 four words of 32 bits")
    row_of_boxes(picture, 4, 28, 24, lambda w: "pale", lambda w: f"word {w}")
    for row, (stage, bits, says) in enumerate((("02_fused", 32, "one number, the rest is thrown away"),
                                               ("03_share_calls", 32, "one number of each word"),
                                               ("04_sixteen_bits", 16, "two numbers of each word"),
                                               ("05_eight_bits", 8, "four numbers of each word"))):
        launch, = programs.trace("07_gelu_dropout", "1x1024", stage)
        elements = elements_of_lane_zero(launch, "x")
        require(elements == elements_of_lane_zero(launch, f"y{('_one', '_four', '', '_sixteen')[row]}"),
                f"{stage} stores other elements than it loads")
        count, top = 128 // bits, 66 + 66 * row
        picture.left_text(LEFT, top + 6, f"{stage}: {says}", "bold", 10)
        row_of_boxes(picture, count, top + 16, 24, lambda j: "blue" if j < len(elements) else "idle",
                     lambda j: elements[j] if j < len(elements) else "–")
    picture.left_text(LEFT, 322, "In the boxes: the element of the array that gets the number", "dim", 10)
    return picture


def bytes_of(launch, array):
    """Bytes of an array that a warp stores or loads, all lanes together."""
    return sum(request["bytes"] * len(lanes_of(request)) for request in requests_of(launch, array=array))


def draw_saved_for_backward(programs):
    picture = Picture("What the forward pass saves for the backward pass, in bytes per element", 262)
    for middle, words in ((LEFT + 40, "forward"), (WIDTH / 2, "in memory"), (WIDTH - LEFT - 40, "backward")):
        picture.text(middle, 14, words, "bold", 11)
    for row, (forward, array, says, backward) in enumerate((
            ("07_save_bytes", "mask_bytes", "mask: 1 byte", "07_byte_mask"),
            ("08_save_bits", "mask_bits", "mask: 1/8 byte", "08_bit_mask"),
            ("04_sixteen_bits", None, "no mask: drawn again", "09_recomputed"))):
        launch, = programs.trace("07_gelu_dropout", "1x1024", forward)
        elements = bytes_of(launch, "x") / FLOAT
        mask = bytes_of(launch, array) / elements if array else 0
        require(mask == (1, 1 / 8, 0)[row], f"{forward} saves {mask} bytes per element")
        top = 28 + 78 * row
        picture.cell(LEFT, top, 80, 66, "", "pale")
        picture.cell(WIDTH - LEFT - 80, top, 80, 66, "", "pale")
        for middle, kernel in ((LEFT + 40, forward), (WIDTH - LEFT - 40, backward)):
            picture.text(middle, top + 18, kernel, "", 10)
            picture.text(middle, top + 46, "Philox" if kernel == forward or not array else "", "dim", 10)
        picture.cell(132, top + 4, 136, 24, f"x: {FLOAT} bytes", "blue", 10)
        picture.line([(269, top + 16), (WIDTH - LEFT - 82, top + 16)])
        if array:
            picture.cell(132, top + 38, 136, 24, says, "orange", 10)
            picture.line([(LEFT + 81, top + 50), (131, top + 50)], "arrow-orange")
            picture.line([(269, top + 50), (WIDTH - LEFT - 82, top + 50)], "arrow-orange")
        else:
            picture.cell(132, top + 38, 136, 24, says, "idle", 10)
    return picture


def draw_scores_in_memory(programs):
    """The steps of stages 4 and 7 of chapter 08 for one tile of the matrix of scores."""
    unfused = programs.trace("08_attention", "1x1x64x64x64", "04_three_kernels")
    flash = programs.trace("08_attention", "1x1x64x64x64", "07_flash")
    require(not any(requests_of(launch, array="scores") for launch in flash), "07_flash has scores in memory")
    picture, side = Picture("The matrix of scores, in memory and never written", 300), 112
    for left, name, words in ((LEFT, "04_three_kernels", "Three kernels"), (214, "07_flash", "One kernel")):
        picture.heading(left, 16, words)
        picture.left_text(left, 32, name, "dim", 10)
        picture.cell(left + 58, 46, side, 22, "k", "blue", 11)
        picture.cell(left + 30, 74, 22, side, "q", "blue", 11)
        for row in range(4):
            for column in range(4):
                in_memory = left == LEFT
                kind = "orange" if in_memory or (row, column) == (1, 2) else "idle"
                picture.box(left + 58 + 28 * column, 74 + 28 * row, 28, 28, kind)
        picture.cell(left + 58, 194, side, 22, "v", "blue", 11)
    accesses = [f"{launch['kernel'].split('<')[0]}: " + ", ".join(
        f"{way}{'s' if times == 1 else f's {times} times'}" for way, times in (
            ("load", times_accessed(launch, "load", "scores")),
            ("store", times_accessed(launch, "store", "scores"))) if times)
        for launch in unfused]
    picture.left_text(LEFT, 236, "Its kernels access the matrix:", size=10)
    for line, words in enumerate(accesses):
        picture.left_text(LEFT, 252 + 14 * line, words, size=10)
    for line, words in enumerate(("One tile at a time, in registers;", "it is forgotten after its weights",
                                  "have been multiplied by v.")):
        picture.left_text(214, 236 + 14 * line, words, size=10)
    return picture


def times_accessed(launch, operation, array):
    """How many times the first warp accesses each byte of its part of an array, as a whole number."""
    offsets = collections.Counter(offset for request in requests_of(launch, operation=operation, array=array)
                                  for offset in lanes_of(request).values())
    times = set(offsets.values()) or {0}
    require(len(times) == 1, f"{launch['kernel']}: some bytes of {array} are accessed more often than others")
    return times.pop()


def draw_running_maximum(programs):
    """The online softmax of a row whose scores arrive in tiles of two: its rule, step by step."""
    scores, v = [[1.0, 2.0], [4.0, 3.0], [0.0, 3.0]], [[1.0, 0.0], [2.0, 1.0], [5.0, 1.0]]
    picture = Picture("An online softmax, tile by tile", 268)
    columns = (LEFT + 30, 112, 174, 236, 300, 362)
    picture.heading(LEFT, 16, "A row of six scores, which arrive two at a time")
    for x, words in zip(columns, ("scores", "their v", "maximum", "rescale", "sum", "output")):
        picture.text(x, 38, words, "dim", 10)
    most, total, output = -math.inf, 0.0, 0.0
    for row, (tile, values) in enumerate(zip(scores, v)):
        y = 62 + 56 * row
        largest = max(most, *tile)
        rescale = math.exp(most - largest)
        weights = [math.exp(score - largest) for score in tile]
        total = total * rescale + sum(weights)
        output = output * rescale + sum(weight * value for weight, value in zip(weights, values))
        grew = largest > most
        most = largest
        for i in range(2):
            picture.cell(LEFT + 30 * i, y - 11, 28, 22, f"{tile[i]:g}", "blue")
            picture.cell(86 + 26 * i, y - 11, 24, 22, f"{values[i]:g}", "pale")
        picture.cell(152, y - 11, 44, 22, f"{most:g}", "orange" if grew else "plain")
        picture.text(236, y, f"× {rescale:.3f}", "bold" if grew else "dim", 11)
        picture.text(300, y, f"{total:.3f}", "", 11)
        picture.text(362, y, f"{output:.3f}", "", 11)
        says = ", ".join(f"{weight:.3f}" for weight in weights)
        picture.left_text(LEFT, y + 23, f"weights, relative to this maximum: {says}", "dim", 9)
    row, values = sum(scores, []), sum(v, [])
    exact = sum(math.exp(score) * value for score, value in zip(row, values)) / sum(map(math.exp, row))
    require(math.isclose(output / total, exact), "the rule of the online softmax is wrong")
    quotient = f"{output:.3f} / {total:.3f} = {output / total:.3f}"
    picture.left_text(LEFT, 232, f"result = output / sum = {quotient}", "bold")
    picture.left_text(LEFT, 252, "The same as with all scores at once: the factors cancel.", size=10)
    return picture


def draw_causal_tiles(programs):
    tiles, side, tile = 4, 46, 64
    size = f"1x1x{tiles * tile}x{tiles * tile}x64"

    def loaded(stage):
        return programs.counts("08_attention", size, stage)["load_sectors"] * SECTOR

    tile_bytes = 2 * tile * 64 * FLOAT  # of k and of v
    skipped = tiles * (tiles - 1) // 2
    require(loaded("09_masked") - loaded("09_causal") == skipped * tile_bytes, "09_causal skips other tiles")
    picture = Picture("The tiles of a causal mask", 262)
    picture.heading(LEFT, 16, f"{tiles * tile} queries, {tiles * tile} keys, in tiles of {tile} x {tile}")
    left, top = 92, 46
    picture.text(left + tiles * side / 2, 34, "keys", "dim", 10)
    for row in range(tiles):
        order = tiles - 1 - row
        middle, first = top + side * (row + 0.5), row * tile
        picture.right_text(left - 8, middle - 7, f"queries {first}–{first + tile - 1}", "", 9)
        picture.right_text(left - 8, middle + 7, f"block {order}", "dim", 9)
        for column in range(tiles):
            x, y = left + side * column, top + side * row
            if column < row:
                picture.cell(x, y, side - 2, side - 2, "", "blue")
            elif column > row:
                picture.cell(x, y, side - 2, side - 2, "", "idle")
            else:
                picture.cell(x, y, side - 2, side - 2, "", "orange")
    for line, (kind, words) in enumerate((("blue", ("whole: every", "query sees all")),
                                          ("orange", ("on the diagonal:", "masked")),
                                          ("idle", ("skipped",)))):
        y = 60 + 52 * line
        picture.box(288, y, 18, 18, kind)
        for i, text in enumerate(words):
            picture.left_text(312, y + 9 + 13 * i, text, size=10)
    computed = tiles * tiles - skipped
    says = f"{computed} of {tiles * tiles} tiles are computed; the longest row starts first."
    picture.left_text(LEFT, 250, says, size=10)
    return picture


CALLS = "plots/data/h100/calls/09_pytorch.json"  # what `./workbook run 09 --json` has stored

# Where a call of each stage of chapter 09 goes, and whether that is Python.
WAYS_OF_CALLS = (("01_ctypes", ("ctypes", "C layer")),
                 ("02_custom_op", ("dispatcher", "Python", "ctypes", "C layer")),
                 ("03_operator", ("dispatcher", "operator", "C layer")),
                 ("04_registered", ("dispatcher", "autograd", "dispatcher", "operator", "C layer")),
                 ("05_function", ("gradient?", "dispatcher", "operator", "C layer")))
IN_PYTHON = ("Python", "ctypes", "autograd", "gradient?")


def draw_calls(_):
    """The parts that a call without a gradient passes, from left to right."""
    picture = Picture("The way of a call through Python and C++ in stages 1 to 5", 232)
    for x, kind, words in ((LEFT, "orange", "Python"), (LEFT + 80, "blue", "C++")):
        picture.box(x, 9, 12, 12, kind)
        picture.left_text(x + 18, 15, words)
    for row, (stage, parts) in enumerate(WAYS_OF_CALLS):
        y = 34 + 39 * row
        picture.left_text(LEFT, y + 13, stage, "", 10)
        for i, part in enumerate(parts):
            x = 90 + 61 * i
            picture.cell(x, y, 52, 26, part, "orange" if part in IN_PYTHON else "blue", 9)
            if i > 0:
                picture.line([(x - 9, y + 13), (x - 1, y + 13)])
    return picture


def draw_call_costs(_):
    """The host time of a call of one element, without a gradient."""
    run = json.loads((ROOT / CALLS).read_text())
    rungs = {rung: times["host"] for rung, times in run["rungs"].items()
             if rung == "eager" or re.match(r"\d", rung)}
    picture = Picture("Host time of one call of q * k + v with one element", 30 + 24 * len(rungs))
    picture.heading(LEFT, 14, f"{run['device']}: host time per call, µs")
    scale = 240 / max(rungs.values())
    for row, (rung, us) in enumerate(rungs.items()):
        y = 28 + 24 * row
        picture.left_text(LEFT, y + 8, rung)
        picture.box(98, y, us * scale, 16, "orange" if rung == "eager" else "blue", 0)
        picture.left_text(104 + us * scale, y + 8, f"{us:.3g}", "bold")
    return picture


MODELS = "plots/data/h100/calls/models.json"  # what chapters/09_pytorch/models.py --trace --json has stored
OF_OURS = ("workbook_ops::", "gpu::", "aten::_addmm_activation", "gelubias")  # names of operators and kernels


def draw_profile(_):
    """The host's operators and the GPU's kernels in a forward pass of one block of a transformer."""
    run = json.loads((ROOT / MODELS).read_text())
    end = max(start + duration for profile in run["profiles"].values() for lane in profile.values()
              for _, start, duration in lane)
    picture = Picture("A forward pass of a block of a transformer, as PyTorch's profiler sees it", 190)
    picture.heading(LEFT, 14, f"{run['device']}: a forward pass of 128 tokens")
    left, scale = 76, (WIDTH - 76 - LEFT) / end
    for row, (way, profile) in enumerate(run["profiles"].items()):
        for line, (lane, events) in enumerate(profile.items()):
            y = 34 + 66 * row + 26 * line
            picture.right_text(left - 6, y + 9, f"{way}, host" if lane == "host" else "GPU", "", 10)
            picture.box(left, y, end * scale, 18, "idle", 0)
            for name, start, duration in events:
                kind = "orange" if any(part in name for part in OF_OURS) else "blue"
                picture.box(left + start * scale, y, max(duration * scale, 0.8), 18, kind, 0)
        busy = sum(duration for _, _, duration in profile["gpu"])
        last = max(start + duration for _, start, duration in profile["gpu"])
        picture.left_text(left, 34 + 66 * row + 50, f"{len(profile['gpu'])} kernels; the GPU is busy for "
                          f"{busy:.0f} of {last:.0f} µs", "", 9)
    says = "Blue: PyTorch's. Orange: operators of workbook_ops, and what they start."
    picture.left_text(LEFT, 178, says, size=10)
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
    "chain": draw_chain,
    "links": draw_links,
    "float_formats": draw_float_formats,
    "half2": draw_half2,
    "launches": draw_launches,
    "exchange": draw_exchange,
    "corrected_quotient": draw_corrected_quotient,
    "tree_of_six": draw_tree_of_six,
    "butterfly_largest": draw_butterfly_largest,
    "row_on_chip": draw_row_on_chip,
    "shared_call": draw_shared_call,
    "saved_for_backward": draw_saved_for_backward,
    "scores_in_memory": draw_scores_in_memory,
    "running_maximum": draw_running_maximum,
    "causal_tiles": draw_causal_tiles,
    "calls": draw_calls,
    "profile": draw_profile,
    "call_costs": draw_call_costs,
}


# --- Main ---


def all_pictures():
    """Those of this file, and of files that import it."""
    sys.modules.setdefault("diagrams", sys.modules[__name__])
    from pictures_attention import PICTURES as of_attention
    from pictures_gpus import PICTURES as of_gpus
    from pictures_layernorm import PICTURES as of_layernorm
    from pictures_linear_gelu import PICTURES as of_linear_gelu
    from pictures_tensor_cores import PICTURES as of_tensor_cores
    from pictures_timelines import PICTURES as of_timelines
    return {**PICTURES, **of_attention, **of_gpus, **of_layernorm, **of_linear_gelu, **of_tensor_cores,
            **of_timelines}


def draw_all(programs, out):
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in all_pictures().items():
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
    print(f"{len(all_pictures())} pictures in {options.out}")


if __name__ == "__main__":
    main()
