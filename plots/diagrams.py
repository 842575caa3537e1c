"""Draws the pictures of the lessons' mechanisms as SVG, into plots/diagrams.

    python3 plots/diagrams.py                                    with the programs in build/bin
    python3 plots/diagrams.py --programs FOLDER --out FOLDER

What lanes access comes from traces of the chapters' programs on the CPU device (docs/json.md). What a trace does
not hold, such as the values of a tree, is computed here by the kernel's rule. A check in each picture compares the
two. Exit status 2: a program does not do what its picture says; 3: a program is missing.

One file serves light and dark. Its colours follow `prefers-color-scheme`, which a browser answers for an <img>
with the color-scheme of the page around it: that of GitHub's theme, and in the book that of its own switch.
All lengths are pixels at a width of 400, where the smallest text has 9.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, SMALLEST_TEXT = 400, 9
WARP, SECTOR, FLOAT = 32, 32, 4  # lanes, bytes, bytes

STYLE = """
:root { --back: #ffffff; --ink: #1f2328; --dim: #57606a; --line: #8c959f; --blue: #0072b2; --on-blue: #ffffff;
        --orange: #e69f00; --pale: #eaeef2; }
@media (prefers-color-scheme: dark) {
  :root { --back: #161b22; --ink: #e6edf3; --dim: #9da7b1; --line: #6e7681; --blue: #4da6e0; --on-blue: #06111c;
          --orange: #f0b429; --pale: #2a313a; }
}
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.dim { fill: var(--dim); } .bold { font-weight: bold; }
.on-blue { fill: var(--on-blue); } .on-orange { fill: #1f2328; }
.back { fill: var(--back); } .plain { fill: none; stroke: var(--line); } .pale { fill: var(--pale); stroke: var(--line); }
.blue { fill: var(--blue); stroke: var(--back); } .orange { fill: var(--orange); stroke: var(--back); }
.idle { fill: none; stroke: var(--line); stroke-dasharray: 2 2; }
path { fill: none; stroke-width: 1.3; } .fan { fill: var(--pale); opacity: 0.6; } marker path { stroke: none; }
.arrow { stroke: var(--dim); } .arrow-blue { stroke: var(--blue); }
.arrow-orange { stroke: var(--orange); stroke-width: 2.4; } .dashed { stroke: var(--dim); stroke-dasharray: 4 3; }
.head { fill: var(--dim); } .head-blue { fill: var(--blue); } .head-orange { fill: var(--orange); }
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


def fan(picture, box, wider):
    """What is between a box (x, y, width, height) and a wider one below it that shows what is in it."""
    corners = [(box[0], box[1] + box[3]), (box[0] + box[2], box[1] + box[3]),
               (wider[0] + wider[2], wider[1]), (wider[0], wider[1])]
    picture.line(corners, "fan", head=False)


def row_of_boxes(picture, count, y, height, kind, words, size=10):
    """Boxes over the whole width; returns where each is. `kind` and `words` are functions of the box's number."""
    left, gap = 12, 2
    width = (WIDTH - 2 * left + gap) / count - gap
    places = [(left + i * (width + gap), y, width, height) for i in range(count)]
    for i, place in enumerate(places):
        picture.cell(*place, words(i), kind(i), size)
    return places


def draw_grid_and_guard(programs):
    n = 1000
    launch, = programs.trace("00_first_kernel", n, "3_grid")
    blocks, threads = launch["grid"][0], launch["block"][0]
    last = n - (blocks - 1) * threads  # elements of the last block
    warps, full, active = threads // WARP, last // WARP, last % WARP
    # The trace has the first warp alone: that of a launch with as many elements as the last warp has.
    small, = programs.trace("00_first_kernel", active, "3_grid")
    for request in small["requests"]:
        require(list(lanes_of(request)) == list(range(active)), "the guard of 3_grid lets other lanes through")

    picture = Picture("Grid, blocks, warps and the guard", 268)
    text_left, all_of_it = 12, WIDTH - 24
    fan(picture, (text_left + all_of_it * (blocks - 1) / blocks, 28, all_of_it / blocks, 34), (12, 110, all_of_it))
    fan(picture, (text_left + all_of_it * full / warps, 110, all_of_it / warps, 24), (12, 182, all_of_it))
    picture.text(text_left, 16, f"The grid: {blocks} blocks of {threads} threads for n = {n}", "bold", 11, "start")
    grid = row_of_boxes(picture, blocks, 28, 34, lambda b: "blue" if b < blocks - 1 else "pale", lambda b: "")
    for b, (x, y, width, _) in enumerate(grid):
        colour = "on-blue" if b < blocks - 1 else ""
        picture.text(x + width / 2, y + 10, f"block {b}", colour, 10)
        picture.text(x + width / 2, y + 24, f"i = {b * threads}…{(b + 1) * threads - 1}", colour, 9)
    picture.text(text_left, 98, f"Its last block: {warps} warps of {WARP} threads", "bold", 11, "start")
    row_of_boxes(picture, warps, 110, 24, lambda w: "blue" if w < full else "pale",
                 lambda w: f"warp {w}", 9)
    first = n - active  # i of lane 0 of the last warp
    picture.text(text_left, 170, f"Its last warp: {WARP} lanes, i = {first}…{first + WARP - 1}", "bold", 11,
                 "start")
    lanes = row_of_boxes(picture, WARP, 182, 22, lambda lane: "blue" if lane < active else "idle",
                         lambda lane: lane if lane < active else "", 9)
    guard = lanes[active][0] - 1
    picture.line([(guard, 180), (guard, 238)], "arrow-orange", head=False)
    picture.text(guard + 6, 218, "i ≥ n", "", 11, "start")
    picture.text(guard - 6, 218, "i < n", "", 11, "end")
    picture.text(guard + 6, 233, f"{WARP - active} lanes do nothing", "", 11, "start")
    picture.text(guard - 6, 233, f"{active} lanes work", "", 11, "end")
    picture.text(WIDTH / 2, 256, "The guard: if (i < n) out[i] = 2.0f * x[i];", "", 11)
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
        picture.text(left, 18, name, "bold", 12, "start")
        picture.box(left, 48, 64, 176, "pale", 4)
        picture.text(left + 32, 40, "memory", "dim", 10)
        picture.text(left + 152, 40, "kernels" if len(launches) > 1 else "kernel", "dim", 10)
        for array in arrays:
            high = 38 if array == "product" else 22
            picture.cell(left + 5, ARRAY_ROWS[array] - high / 2, 54, high, array,
                         "orange" if array == "product" else "blue", 11)
        for launch in launches:
            draw_kernel_beside_memory(picture, left, launch)
        picture.text(left, 236, f"{bytes_per_element(launches)} bytes per element", "bold", 11, "start")
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
        picture.text(12, y, what, "bold", 11, "start")
        picture.text(WIDTH - 12, y, f"{len(sectors)} sectors: {len(sectors) * SECTOR} bytes moved, "
                     f"{len(lane_at) * FLOAT} used", "", 10, "end")
        for i, sector in enumerate(sectors):
            draw_sector(picture, 13 + 95 * (i % 4), y + 12 + 19 * (i // 4), sector * SECTOR // FLOAT, lane_at)
        y += 12 + 19 * (len(sectors) // 4) + 26
    picture.box(13, y - 8, 11, 15, "blue")
    picture.text(30, y, f"{FLOAT} bytes that a lane loads", "", 10, "start")
    picture.box(203, y - 8, 88, 15)
    picture.text(297, y, f"a sector, {SECTOR} bytes", "", 10, "start")
    return picture


def split(n, offset):
    """As split() of chapter 01 for arrays that begin `offset` floats past a multiple of 16 bytes: (head, vectors)."""
    head = min((4 - offset) % 4, n)
    return head, (n - head) // 4


def require_split_as_in(programs, n):
    """That stage 3 of chapter 01, whose arrays begin at multiples of 16 bytes, has these vectors and singles."""
    head, vectors = split(n, 0)
    launch, = programs.trace("01_multiply_add", n, "3_float4")
    wide = lanes_of(requests_of(launch, array="q", bytes=16)[0])
    single = lanes_of(requests_of(launch, array="q", bytes=4)[0])
    require(wide == {lane: 16 * lane for lane in range(vectors)}, "3_float4 has other vectors")
    require(list(single.values()) == [FLOAT * i for i in range(head + 4 * vectors, n)], "3_float4 has another tail")


def draw_head_vectors_tail(programs):
    n, offset, wide, left = 21, 1, 15.5, 14
    head, vectors = split(n, offset)
    require_split_as_in(programs, n - head)
    tail = n - head - 4 * vectors

    def x(element):
        return left + (offset + element) * wide

    picture = Picture("Head, vectors and tail of an array", 148)
    picture.text(left, 15, "A float4 must begin at an address that is a multiple of 16:", "bold", 11, "start")
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
    picture.text(left, 130, f"Head and tail: {head} + {tail} loads of 4 bytes. Vectors: {vectors} loads of 16 bytes.", "",
                 11, "start")
    return picture


PICTURES = {
    "grid_and_guard": draw_grid_and_guard,
    "round_trip": draw_round_trip,
    "sectors": draw_sectors,
    "head_vectors_tail": draw_head_vectors_tail,
}


# --- Main ---


def draw_all(programs, out):
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        (out / f"{name}.svg").write_text(draw(programs).svg())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
