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


PICTURES = {
    "grid_and_guard": draw_grid_and_guard,
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
