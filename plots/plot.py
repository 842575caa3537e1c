"""Draws the chapters' JSON (docs/json.md) as SVG.

    python3 plots/plot.py                             the committed runs on an H200
    python3 plots/plot.py results                     your own (./workbook bench writes them there)
    python3 plots/plot.py results --compare           your own beside the committed ones
    python3 plots/plot.py FOLDER --compare FOLDER     any two
    python3 plots/plot.py --trace FILE...             what one warp accesses, stored by a chapter's --trace

A folder holds NN_chapter.json of a GPU and peers_NN_chapter.json beside it where there are peers, of which
the figures show PyTorch as written and the fastest of the others; that of
--counts holds what the chapters have counted on the CPU device. The figures of the committed runs go to
plots/figures, others to a folder `figures` beside what is drawn. Exit status 2: bad usage or a file that is
not what it should be; 3: no matplotlib.
"""

import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until main(): no traceback from the middle of an import

import dataclasses
import functools
import io
import math
import os
import pathlib
import sys
import textwrap
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from origin import commit_fault, require_origin
from results import (ROOT, TRACE, BadFile, base_name, dram_bytes, fail, load, moved_bytes, read_runs, remark,
                     require, require_schema, require_shape, right_peers, shown_peers)

DEBIAN_PYTHON = "/usr/bin/python3"
try:
    import matplotlib
except ImportError:
    # Debian's matplotlib belongs to Debian's Python, which need not be the one that was found first.
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and os.path.exists(DEBIAN_PYTHON):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
    fail(3, "matplotlib is missing (Debian: apt-get install python3-matplotlib)")

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import Rectangle

COMMITTED = ROOT / "plots" / "data" / "h200"

# The palette of Okabe and Ito, which colour-blind eyes can tell apart; hatches where there is no colour.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
KINDS = {"ours": (BLUE, None), "library": (ORANGE, "//"), "pytorch": (GREEN, "..")}
KIND_NAMES = {"ours": "ours", "library": "library", "pytorch": "PyTorch"}
MARKERS = "osD^vPX*<>"

# The colours on a dark page; white becomes the page's own.
DARK = {"#ffffff": "#161b22", "#000000": "#c9d1d9", "#444444": "#9da7b1", "#dddddd": "#30363d",
        "#c4c4c4": "#565e68", GREY: "#8b949e", BLUE: "#4da6e0", ORANGE: "#f0b429", GREEN: "#2bc494",
        RED: "#f0813c"}
NARROW = 4.0  # inches: as wide as a phone, with letters of the same size

pyplot.rcParams.update({
    "figure.figsize": (7.2, 4.2), "figure.dpi": 100, "font.size": 10, "font.family": "sans-serif",
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "hatch.linewidth": 0.6,
    # The same data makes the same file; text stays text.
    "svg.hashsalt": "workbook", "svg.fonttype": "none"})


# --- Reading ---


@dataclasses.dataclass
class Stage:
    """One stage, or one peer, at one size."""

    name: str
    kind: str  # a key of KINDS
    moved: int  # bytes
    data: dict  # as stored
    shown: bool = True  # in figures that need not show all peers

    @property
    def us(self):
        return self.data["time_us"]["median"]

    def base(self, stages):
        """The stage of {name: stage} that its speed-up is over."""
        return stages[base_name(self.data, stages)]

    @property
    def warm_us(self):
        return self.data["time_warm_us"]["median"]

    @property
    def gbytes(self):
        return dram_bytes(self.data) / self.us * 1e-3

    @property
    def ceiling_gbytes(self):
        ceiling = self.data.get("ceiling_us")
        return dram_bytes(self.data) / ceiling["median"] * 1e-3 if ceiling else None


def plain(value):
    """Data whose texts matplotlib writes as they are: without formulas and control characters."""
    if isinstance(value, dict):
        return {field: plain(inner) for field, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        return "".join(c if c.isprintable() else "?" for c in value).replace("$", r"\$")
    return value


def stages_of(run):
    def kind(stage):
        return "library" if stage["idea"].startswith("library") else "ours"

    return [Stage(s["name"], kind(s), moved_bytes(s), s) for s in run["stages"] if s["status"] == "ok"]


def on_our_scale(peer, stages):
    """The peer with the time that follows from its ratio to a stage of ours, and from that stage's time in
    the chapter's own run: where peers take turns, the card may be hotter, and its clock lower."""
    ratio = next((one for one in peer.get("ratios", [])
                  if one["regime"] == "burst" and one["stage"] in stages), None)
    if not ratio:
        return peer
    factor = ratio["median"] * stages[ratio["stage"]].us / peer["time_us"]["median"]
    scaled = {field: factor * peer["time_us"][field] for field in ("p25", "median", "p75")}
    return {**peer, "time_us": {**peer["time_us"], **scaled},
            "tflops": peer["tflops"] / factor if peer.get("tflops") else None}


def peers_in(run, ours):
    """Those that are right, beside the stages `ours`. One that is not exact says so behind its name."""
    stages = {stage.name: stage for stage in ours if stage.data.get("time_us")}

    def name(peer):
        return f"{peer['name']}, {remark(peer)}" if remark(peer) else peer["name"]

    def kind(peer):
        return "pytorch" if peer["name"].startswith("torch") else "library"

    shown = shown_peers(run)
    return [Stage(name(p), kind(p), moved_bytes(p), on_our_scale(p, stages), p in shown)
            for p in right_peers(run)]


@dataclasses.dataclass
class Measured:
    """A chapter on one GPU: its stages and peers by size."""

    run: dict  # that of the largest size: the device, the date
    sizes: dict  # shape, as a tuple -> stages

    def extent(self, shape):
        """To compare shapes by: elements, and where they are equal, the stages that have been timed."""
        return math.prod(shape), len(self.sizes[shape])

    @property
    def largest(self):
        return max(self.sizes, key=self.extent)

    @property
    def counts_operations(self):
        """Whether the chapter is bound by arithmetic."""
        return all(stage.data.get("tflops") for stages in self.sizes.values() for stage in stages)

    @property
    def fullest(self):
        """The largest shape at which most stages have been timed."""
        return max(self.sizes, key=lambda shape: (len(self.sizes[shape]), math.prod(shape)))

    @property
    def series(self):
        """The shapes that differ from the largest in their last dimension alone, smallest first."""
        return sorted((shape for shape in self.sizes if shape[:-1] == self.largest[:-1]), key=math.prod)

    @property
    def caption(self):
        return f"{self.run['device']['name']}, {self.run['date']}, commit {self.run['commit']}"


def require_known_origin(path, runs):
    """Requires it of the committed runs, which the book shows. For others, whose captions name the commit, a
    warning is enough."""
    if path.parent.resolve() == COMMITTED:
        require_origin(path, runs)
    elif runs[0]["device"]["kind"] == "gpu" and commit_fault(runs[0]["commit"]):
        warn_once(commit_fault(runs[0]["commit"]))


@functools.cache
def warn_once(message):
    print(f"plot.py: {message}: nobody can repeat this measurement", file=sys.stderr)


def read_folder(folder):
    """({chapter: Measured}, {chapter: a run on the CPU device}) of all the JSON in a folder."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise BadFile(f"{folder}: there is no .json file in it (./workbook bench writes some into results)")
    measured, counted, peers = {}, {}, []
    for path in paths:
        runs = plain(read_runs(path))
        require_known_origin(path, runs)
        for run in runs:
            if run["device"]["kind"] == "cpu":
                counted[run["chapter"]] = run
            elif path.name.startswith("peers_"):
                peers.append(run)
            else:
                chapter = measured.setdefault(run["chapter"], Measured(run, {}))
                chapter.sizes[tuple(run["shape"])] = stages_of(run)
    for run in peers:
        if run["chapter"] in measured and tuple(run["shape"]) in measured[run["chapter"]].sizes:
            stages = measured[run["chapter"]].sizes[tuple(run["shape"])]
            stages += peers_in(run, stages)
    for chapter in measured.values():
        chapter.run = {**chapter.run, "shape": chapter.largest}
    return measured, counted


# --- What all figures share ---


DIMS = {1: "N", 2: "RxC", 3: "MxKxN", 5: "HxGxQxKxD"}  # of files that do not say it


def dims_of(run):
    return run.get("dims") or DIMS[len(run["shape"])]


def shape_text(run, shape):
    """As --size takes it, with the names of the dimensions; a single number is grouped."""
    numbers = f"{shape[0]:,}" if len(shape) == 1 else "x".join(map(str, shape))
    return f"{dims_of(run)} = {numbers}"


def report(text):
    """On standard output, which may be closed early (plot.py | head) or on a full disk."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        if not isinstance(error, BrokenPipeError):
            fail(3, f"standard output: {error.strerror}")


def finish(figure, title, caption, name, out, legend=None, narrow=True):
    """Writes a figure, and in the folder `narrow` the same for a phone. `legend` is handles and texts."""
    out.mkdir(parents=True, exist_ok=True)
    width, height = figure.get_size_inches()
    write(figure, (width, height), title, caption, legend, out / f"{name}.svg")
    if narrow:
        (out / "narrow").mkdir(exist_ok=True)
        height += fit_for_phone(figure)
        write(figure, (NARROW, height), textwrap.fill(title, 42), wrapped(caption, 60), legend,
              out / "narrow" / f"{name}_narrow.svg")
    pyplot.close(figure)
    report(f"  {name}")
    return name


def fit_for_phone(figure):
    """Breaks the texts that are too long, and puts legends below instead of beside. Returns their height."""
    below = 0
    for axes in figure.axes:
        axes.set_title(axes.get_title().replace("= ", "=\n"), fontsize=8)
        axes.set_title(wrapped(axes.get_title(loc="left"), 60), fontsize=8, loc="left")
        axes.set_xlabel(wrapped(axes.get_xlabel(), 46), x=1, ha="right")
        if is_of_bars(axes):
            names = [wrapped(label.get_text(), 24) for label in axes.get_yticklabels()]
            axes.set_yticks(axes.get_yticks(), names)
            for label, name in zip(axes.get_yticklabels(), names):
                label.set_fontsize(8 if "\n" in name else 10)
        legend = axes.get_legend()
        if legend:
            texts = [text.get_text() for text in legend.get_texts()]
            below += 0.19 * len(texts)
            axes.legend(legend.get_lines(), texts, fontsize=8, frameon=False, loc="upper left",
                        bbox_to_anchor=(0, -0.16))
    return below


def wrapped(text, width):
    return "\n".join(textwrap.fill(line, width) for line in text.split("\n"))


def write(figure, size, title, caption, legend, file):
    """The panels at a size, and above them the title and the legend, and below where the data are from."""
    width, height = size
    columns = len(legend[0]) if legend and width > NARROW else 2
    rows = -(-len(legend[0]) // columns) if legend else 0
    above = 0.17 * title.count("\n") + 0.25 * rows
    below = 0.17 * caption.count("\n")
    height += above + below
    figure.set_size_inches(width, height)
    texts = [figure.text(0.01, 1 - 0.08 / height, title, ha="left", va="top", fontsize=11,
                         fontweight="bold")]
    if legend:
        texts.append(figure.legend(*legend, fontsize=8, frameon=False, loc="upper left", ncol=columns,
                                   bbox_to_anchor=(0, 1 - (0.25 + 0.17 * title.count("\n")) / height)))
    figure.tight_layout(rect=(0, (0.27 + below) / height, 1, 1 - (0.25 + above) / height))
    make_room_for_texts(figure)
    texts.append(figure.text(0.01, 0.08 / height, caption, fontsize=8, color="#444444", ha="left",
                             va="bottom", linespacing=1.4))
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    file.write_text(text.getvalue().replace("</style>", dark_style() + "</style>", 1))
    for text in texts:
        text.remove()


def dark_style():
    """Rules for readers whose pages are dark, who would get a white box otherwise. They override the colours
    that Matplotlib writes into each element."""
    rules = [f"[style*='{what}: {light.lower()}'] {{ {what}: {dark} !important; }}"
             for light, dark in DARK.items() for what in ("fill", "stroke")]
    return ("\n@media (prefers-color-scheme: dark) {\n  text { fill: #e6edf3; }\n  "
            + "\n  ".join(rules) + "\n}\n")


def make_room_for_texts(figure):
    """Extends axes of bars to the right until the texts behind the bars are within them."""
    renderer = figure.canvas.get_renderer()
    groups = {}  # axes that share a scale
    for axes in figure.axes:
        shared = tuple(sorted(map(id, axes.get_shared_x_axes().get_siblings(axes))))
        groups.setdefault(shared, []).append(axes)
    for group in groups.values():
        wanted = group[0].get_xlim()[1]
        for axes in group:
            for text in axes.texts:
                if text.get_gid() == BEHIND_BAR:
                    room = axes.bbox.width - text.get_window_extent(renderer).width - 12
                    wanted = max(wanted, end_of_axis(axes, text.xy[0], room / axes.bbox.width))
        if wanted > group[0].get_xlim()[1]:
            group[0].set_xlim(right=wanted)


def end_of_axis(axes, value, share):
    """Where an axis must end that has `value` at this share of its length."""
    left = axes.get_xlim()[0]
    if axes.get_xscale() == "log":
        return left * (value / left) ** (1 / share)
    return left + (value - left) / share


def style_of(kind, which=0):
    """Colour and hatch by kind; the second of two machines is paler."""
    colour, hatch = KINDS[kind]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "white" if hatch else colour,
            "alpha": 0.4 if which else 1.0}


def name_rows(axes, names):
    """Rows of bars from the top down, each with its name."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


BEHIND_BAR = "behind a bar"  # marks such a text


def is_of_bars(axes):
    return any(text.get_gid() == BEHIND_BAR for text in axes.texts)


def write_behind(axes, text, x, y):
    """On white, which keeps it clear of the lines that cross the bars."""
    axes.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8,
                  gid=BEHIND_BAR, zorder=5,
                  bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.1"})


def bars(axes, machines, names, value, text, text_at=0):
    """Horizontal bars, one a name and machine, with a text behind each, but not before `text_at`."""
    height = 0.76 / len(machines)
    for which, stages in enumerate(machines):
        for row, name in enumerate(names):
            if name not in stages:
                continue
            y = row + (which - (len(machines) - 1) / 2) * height
            axes.barh(y, value(stages[name]), height=height * 0.94, **style_of(stages[name].kind, which))
            write_behind(axes, text(stages[name]), max(text_at, value(stages[name])), y)
    name_rows(axes, names)


def largest_of_all(machines):
    """The largest size that all machines have."""
    common = set.intersection(*(set(m.sizes) for m in machines))
    return max(common or [machines[0].largest], key=machines[0].extent)


def stages_at(machines, shape):
    """The stages of each machine at a size, by name."""
    return [{s.name: s for s in m.sizes.get(shape, []) if s.shown} for m in machines]


def names_of(machines):
    return list(dict.fromkeys(name for stages in machines for name in stages))


def bar_panels(panels, machines, sharex=False):
    """A figure, and axes one below the other for lists of names of bars."""
    rows = [len(names) + 0.2 for names in panels]
    height = 0.75 + 0.7 * len(panels) + 0.34 * sum(rows) * (1 if machines == 1 else 1.5)
    figure, axes = pyplot.subplots(len(panels), figsize=(7.2, height), height_ratios=rows, squeeze=False,
                                   sharex=sharex)
    return figure, axes[:, 0]


def bar_figure(names, machines):
    figure, (axes,) = bar_panels([names], machines)
    return figure, axes


def legend_of_bars(machines, stages):
    """(handles, texts): what the colours say, and which bar is whose when there are two machines."""
    kinds = [kind for kind in KINDS if any(stage.kind == kind for stage in stages)]
    handles = [Rectangle((0, 0), 1, 1, **style_of(kind)) for kind in kinds]
    texts = [KIND_NAMES[kind] for kind in kinds]
    if len(machines) > 1:
        handles += [Rectangle((0, 0), 1, 1, color=GREY, alpha=0.4 if which else 1.0)
                    for which in range(len(machines))]
        texts += [machine.run["device"]["name"] for machine in machines]
    return handles, texts


def all_of(by_name):
    return [stage for stages in by_name for stage in stages.values()]


def caption_of(machines, more):
    return "\n".join([m.caption for m in machines] + [more])


def caption_at(machines, shape):
    return caption_of(machines, f"{shape_text(machines[0].run, shape)}; {METHOD}")


FEW_ELEMENTS = 10_000  # with so many, a launch takes what any launch takes
METHOD = "median of the samples in docs/json.md, inputs from DRAM"


# --- The figures of a chapter ---


def draw_speed_up(chapter, machines, shape, suffix, out):
    """With a panel for each stage that others are compared with."""
    by_name = stages_at(machines, shape)
    bases = {id(s): s.base(stages) for stages in by_name for s in stages.values()}

    def speed_up(stage):
        return bases[id(stage)].us / stage.us

    panels = {}
    for stage in (s for stages in by_name for s in stages.values()):
        panels.setdefault(bases[id(stage)].name, {})[stage.name] = None  # in order, each once
    figure, axes = bar_panels(list(panels.values()), len(machines))
    for panel, (base, names) in zip(axes, panels.items()):
        bars(panel, by_name, list(names), speed_up, lambda s: f"{speed_up(s):.2f}x  {s.us:.1f} µs")
        panel.axvline(1, color=GREY, linewidth=0.8)
        panel.set_xlabel(f"speed-up over {base}")
    return finish(figure, f"{chapter}: speed-up of each stage", caption_at(machines, shape),
                  f"{chapter}_speed_up{suffix}", out, legend_of_bars(machines, all_of(by_name)))


def draw_bandwidth(chapter, machines, shape, suffix, out):
    """In GB/s; of two machines in percent of what their pins can do, so that a smaller card has long bars."""
    by_name = stages_at(machines, shape)
    names = names_of(by_name)
    figure, axes = bar_figure(names, len(machines))
    pins = [machine.run["device"]["pin_gbytes_per_s"] for machine in machines]
    unit = {id(s): p / 100 if len(machines) > 1 else 1 for p, stages in zip(pins, by_name)
            for s in stages.values()}
    roof = 100 if len(machines) > 1 else pins[0]
    bars(axes, by_name, names, lambda s: s.gbytes / unit[id(s)], lambda s: f"{s.gbytes:,.0f}", text_at=roof)
    height = 0.76 / len(machines)
    for which, stages in enumerate(by_name):
        for row, name in enumerate(names):
            if name in stages and stages[name].ceiling_gbytes:
                y = row + (which - (len(machines) - 1) / 2) * height
                axes.plot([stages[name].ceiling_gbytes / unit[id(stages[name])]] * 2,
                          [y - height / 2, y + height / 2], color="black", linewidth=2)
    axes.axvline(roof, color=GREY, linestyle="--", linewidth=1)
    axes.annotate("pins: " + " and ".join(f"{p:,.0f}" for p in pins), (roof, 1),
                  xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points", fontsize=8,
                  ha="center", color="#444444")
    of_pins = "in percent of the pins' rate; behind: in GB/s" if len(machines) > 1 else "in GB/s"
    axes.set_xlabel(f"bytes that DRAM must deliver or take, {of_pins}\n"
                    "upright marks: a streaming kernel with the same mix")
    return finish(figure, f"{chapter}: bandwidth under the roof", caption_at(machines, shape),
                  f"{chapter}_bandwidth{suffix}", out, legend_of_bars(machines, all_of(by_name)))


def fastest_of_ours(measured):
    """The name of our stage that is fastest at the largest size and computes what the first computes."""
    stages = [s for s in measured.sizes[measured.largest] if s.kind == "ours"]
    same = [s for s in stages if s.data["output"] == stages[0].data["output"]]
    return min(same, key=lambda s: s.us).name


FEW_LINES = 4  # so many are told apart by their colours and marks


def lines_that_matter(by_size, fastest):
    """Names: the first stage, the fastest, that which takes longest at the smallest size, and those that are
    not ours. All of them where they are few."""
    ours = [s for s in by_size[-1].values() if s.kind == "ours"]
    if len(ours) <= FEW_LINES:
        return set(by_size[-1])
    slowest = max((s for s in by_size[0].values() if s.kind == "ours"), key=lambda s: s.us).name
    others = {s.name for s in by_size[-1].values() if s.kind != "ours"}
    return {ours[0].name, fastest, slowest} | others


def draw_size_lines(axes, measured, names, which, whose):
    """[(time at the largest size, handle, text)] for the legend, of one machine's lines."""
    shapes = measured.series
    elements = [math.prod(shape) for shape in shapes]
    by_size = [{s.name: s for s in measured.sizes[shape] if s.shown} for shape in shapes]
    fastest = fastest_of_ours(measured)
    matter = lines_that_matter(by_size, fastest)
    style = {"linestyle": "-." if which else "-", "zorder": 3 - which}
    entries, greyed = [], False
    for i, name in enumerate(names):
        points = [(n, stages[name]) for n, stages in zip(elements, by_size) if name in stages]
        times = list(zip(*[(n, s.us) for n, s in points]))
        if name not in matter:
            axes.plot(*times, color="#C4C4C4", linewidth=0.8, linestyle=style["linestyle"], zorder=1)
            greyed = True
            continue
        colour = KINDS[points[-1][1].kind][0] if name != names[0] else "black"
        line, = axes.plot(*times, color=colour, marker=MARKERS[i % len(MARKERS)], markersize=4,
                          linewidth=1.8 if name == fastest else 0.9, **style)
        entries.append((times[1][-1], line, name + whose))
        if name == fastest:
            warm, = axes.plot(*zip(*[(n, s.warm_us) for n, s in points]), color=colour, linewidth=1.6,
                              linestyle=":", zorder=style["zorder"])
            entries.append((times[1][-1], warm, f"{name}, same inputs again{whose}"))
            l2_mib = measured.run["device"]["l2_bytes"] / 2**20
            entries.append((0, draw_knee(axes, measured, points[-1], style["linestyle"]),
                            f"fills the L2 cache, {l2_mib:.0f} MiB{whose}"))
    if greyed:
        entries.append((0, pyplot.Line2D([], [], color="#C4C4C4", linewidth=0.8), f"other stages{whose}"))
    ceilings = [s.data["ceiling_us"]["median"] for s in by_size[0].values() if s.data.get("ceiling_us")]
    if elements[0] <= FEW_ELEMENTS and ceilings:
        floor = min(ceilings)
        line = axes.axhline(floor, color=GREY, linewidth=1, linestyle=style["linestyle"], zorder=0)
        entries.append((0, line, f"one launch that moves next to nothing: {floor:.1f} µs{whose}"))
    return entries


def draw_knee(axes, measured, point, style):
    """The line at the size whose bytes fill the L2 cache, from a (number of elements, stage)."""
    elements, stage = point
    knee = measured.run["device"]["l2_bytes"] * elements / stage.moved
    return axes.axvline(knee, color=GREY, linestyle="--" if style == "-" else ":", linewidth=1, zorder=0)


def draw_sizes(chapter, machines, out):
    figure, axes = pyplot.subplots(figsize=(8.4, 5.2))
    entries = []
    for which, measured in enumerate(machines):
        stages = {s.name: s for shape in measured.series for s in measured.sizes[shape]}
        at_the_end = {s.name for s in measured.sizes[measured.series[-1]] if s.shown}
        names = [name for name in stages if name in at_the_end]
        if len(machines) > 1:
            names = [names[0], fastest_of_ours(measured)]
        whose = f" ({measured.run['device']['name']})" if len(machines) > 1 else ""
        entries += draw_size_lines(axes, measured, names, which, whose)
    entries.sort(key=lambda entry: -entry[0])  # from the top down, as the lines end
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.09)
    axes.grid(True, which="major", linewidth=0.4, alpha=0.6)
    axes.set_xlabel("elements")
    axes.set_ylabel("time, µs")
    axes.legend([line for _, line, _ in entries], [textwrap.fill(text, 26) for _, _, text in entries],
                fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    at_the_end = [s for s in machines[0].sizes[machines[0].series[-1]] if s.shown]
    kinds = legend_of_bars(machines, at_the_end) if len(machines) == 1 else None
    return finish(figure, f"{chapter}: time against size", caption_of(machines, METHOD), f"{chapter}_sizes",
                  out, kinds)


def tflops_of(stage):
    return stage.data["tflops"]


def draw_arithmetic(chapter, machines, shape, out):
    """In place of the bandwidth, of a chapter that is bound by arithmetic. All stages that compute the same,
    GELU by erf or by tanh for instance, have a panel."""
    by_name = stages_at(machines, shape)
    panels = {}
    for stages in by_name:
        for stage in stages.values():
            panels.setdefault(stage.data.get("output"), {})[stage.name] = None  # in order, each once
    figure, axes = bar_panels(list(panels.values()), len(machines), sharex=True)
    fastest = {id(stage): max(map(tflops_of, stages.values()))
               for stages in by_name for stage in stages.values()}
    comparing = len(machines) > 1  # a small card's bars should be long enough to compare, too

    def length(stage):
        return 100 * tflops_of(stage) / fastest[id(stage)] if comparing else tflops_of(stage)

    for panel, (output, names) in zip(axes, panels.items()):
        bars(panel, by_name, list(names), length, lambda s: f"{tflops_of(s):.1f}")
        panel.set_xlim(0, 105 if comparing else 1.05 * max(fastest.values()))
        panel.tick_params(labelbottom=True)
        unit = "% of the card's fastest; labels in TFLOP/s" if comparing else "TFLOP/s"
        panel.set_xlabel(f"{unit}, {f'computing {output}' if output else 'peers: what they compute varies'}")
    return finish(figure, f"{chapter}: operations a second", caption_at(machines, shape),
                  f"{chapter}_arithmetic", out, legend_of_bars(machines, all_of(by_name)))


def three_sizes(measured):
    """The smallest, one in the middle, and the largest."""
    shapes = measured.series
    return list(dict.fromkeys([shapes[0], shapes[len(shapes) // 2], shapes[-1]]))


def draw_prediction(axes, machines, names, shape):
    """One panel; returns the largest speed-up in it. The first machine's marks are on top."""
    most = 1.0
    for which, machine in enumerate(machines):
        stages = {s.name: s for s in machine.sizes.get(shape, [])}
        for row, name in enumerate(names):
            if name not in stages:
                continue
            first = stages[name].base(stages)
            predicted, got = first.moved / stages[name].moved, first.us / stages[name].us
            most = max(most, predicted, got)
            axes.plot([predicted, got], [row, row], color=GREY, linewidth=1.2, zorder=1)
            axes.scatter(predicted, row, s=42, facecolors="white", edgecolors="black", zorder=2)
            axes.scatter(got, row, s=42, color=(BLUE, ORANGE)[which], marker="os"[which], zorder=4 - which)
    axes.grid(True, axis="x", linewidth=0.4, alpha=0.6)
    name_rows(axes, names)
    return most


def draw_predicted(chapter, machines, out):
    """A row of panels for each stage that others are compared with; the panels of a row share their scale."""
    shapes = three_sizes(machines[0])
    stages = {s.name: s for s in machines[0].sizes[machines[0].largest] if s.kind == "ours"}
    rows = {}
    for stage in stages.values():
        rows.setdefault(stage.base(stages).name, []).append(stage.name)
    heights = [len(names) + 0.2 for names in rows.values()]
    figure, panels = pyplot.subplots(len(rows), len(shapes), sharex="row", sharey="row", squeeze=False,
                                     height_ratios=heights,
                                     figsize=(7.2, 0.9 + 0.75 * len(rows) + 0.3 * sum(heights)))
    for of_row, (base, names) in zip(panels, rows.items()):
        most = max(draw_prediction(axes, machines, names, shape) for axes, shape in zip(of_row, shapes))
        of_row[len(shapes) // 2].set_xlabel(f"speed-up over {base}")
        if most < 10:
            of_row[0].set_xlim(0, 1.12 * most)
        else:
            of_row[0].set_xscale("log")
            of_row[0].margins(x=0.15)
    for axes, shape in zip(panels[0], shapes):
        axes.set_title(shape_text(machines[0].run, shape), fontsize=9)
    legend = [("predicted by bytes", "o", "white")] + [
        (m.run["device"]["name"] + " measured", "os"[which], (BLUE, ORANGE)[which])
        for which, m in enumerate(machines)]
    handles = [pyplot.Line2D([], [], linestyle="", marker=marker, markersize=7, color=colour,
                             markeredgecolor="black" if colour == "white" else colour)
               for _, marker, colour in legend]
    return finish(figure, f"{chapter}: predicted and measured", caption_of(machines, METHOD),
                  f"{chapter}_predicted", out, (handles, [text for text, _, _ in legend]))


def bytes_mark(axes, row, read, write, of_matrices):
    """Bars in a row; of matrix products, which differ by orders of magnitude, marks on a logarithmic axis."""
    if of_matrices:
        axes.plot(read, row - 0.15, "o", color=BLUE, markersize=6)
        axes.plot(write, row + 0.15, "s", color=ORANGE, markersize=5.5)
        return
    axes.barh(row, read, height=0.7, color=BLUE)
    axes.barh(row, write, left=read, height=0.7, color=ORANGE, hatch="//", edgecolor="white")


def draw_bytes(chapter, run, out):
    stages = [s for s in run["stages"] if s["status"] == "ok"]
    of_matrices = dims_of(run) == "MxKxN"
    units = math.prod(run["shape"]) if of_matrices else run["units"]
    figure, axes = bar_figure(stages, 1)
    if of_matrices:
        axes.set_xscale("log")
        axes.grid(True, axis="x", linewidth=0.4, alpha=0.6)
    for row, stage in enumerate(stages):
        read, write = (stage["shown"][way]["value"] * run["units"] / units for way in ("read", "write"))
        bytes_mark(axes, row, read, write, of_matrices)
        count = stage["kernels"]
        kernels = f"{count} kernel{'s' if count > 1 else ''}" if count > 0 else "kernels vary"
        moved = f"{read + write:.{1 if read + write >= 1 else 2}f}"
        write_behind(axes, f"{moved}, {kernels}", max(read, write) if of_matrices else read + write, row)
    name_rows(axes, [s["name"] for s in stages])
    each = "per multiplication (logarithmic axis)" if of_matrices else f"per {run['unit']}"
    axes.set_xlabel(f"bytes {each}, of the sectors requested; behind: sum, kernels")
    legend = ([pyplot.Line2D([], [], marker="o", color=BLUE, linestyle=""),
               pyplot.Line2D([], [], marker="s", color=ORANGE, linestyle="")] if of_matrices else
              [Rectangle((0, 0), 1, 1, **style_of(kind)) for kind in ("ours", "library")])
    return finish(figure, f"{chapter}: bytes that each stage moves",
                  f"counted on the CPU device, {shape_text(run, run['shape'])}", f"{chapter}_bytes", out,
                  (legend, ["read", "written"]))


# --- What a warp touches ---

SECTOR, BANKS, WORD, WARP, WIDEST = 32, 32, 4, 32, 16
MOST_PANELS = 8


def pattern(request):
    """A key that is equal for two requests that look the same in the picture."""
    start = min(offset for offset in request["offsets"] if offset >= 0) // SECTOR * SECTOR
    return (request["operation"], request["space"], request["bytes"],
            tuple(offset - start if offset >= 0 else -1 for offset in request["offsets"]))


def telling_requests(launch):
    """[(arrays, request)]: the costliest of each source line, operation and array, those that look alike
    together."""
    costliest = {}
    for request in launch["requests"]:
        key = request["place"], request["operation"], request["space"], request["array"], request["bytes"]
        # Of equally costly ones that with the lowest addresses, whichever the trace has first.
        cost = request["sectors"], request["wavefronts"], [-offset for offset in request["offsets"]]
        if key not in costliest or cost > costliest[key][0]:
            costliest[key] = cost, request
    alike = {}
    for _, request in costliest.values():
        arrays, _ = alike.setdefault(pattern(request), ([], request))
        if request["array"] not in arrays:
            arrays.append(request["array"])
    return list(alike.values())


def draw_lanes(axes):
    for lane in range(WARP):
        axes.add_patch(Rectangle((lane, 2.0), 0.9, 0.5, facecolor="#DDDDDD", edgecolor="black",
                                 linewidth=0.5))
        if lane % 4 == 0 or lane == WARP - 1:
            axes.text(lane + 0.45, 2.25, str(lane), ha="center", va="center", fontsize=6)
    axes.text(-0.4, 2.25, "lane", ha="right", va="center", fontsize=8)


def lanes_in(request):
    return [(lane, offset) for lane, offset in enumerate(request["offsets"]) if offset >= 0]


def draw_sectors(axes, request):
    """Lanes above, the sectors that they touch below; the bytes that lanes use are filled in."""
    touched = sorted({byte // SECTOR for _, offset in lanes_in(request)
                      for byte in (offset, offset + request["bytes"] - 1)})
    gaps = sum(later != earlier + 1 for earlier, later in zip(touched, touched[1:]))
    width = min(WARP / (len(touched) + 0.35 * gaps), WARP / 4)
    wide = request["bytes"] / SECTOR * width
    narrow = wide < 0.3  # the usual border would hide such bytes
    left, x = {}, 0.0
    for i, sector in enumerate(touched):
        x += 0.35 * width if i and sector != touched[i - 1] + 1 else 0.0
        left[sector] = x
        axes.add_patch(Rectangle((x, 0.3), width, 0.5, facecolor="none", edgecolor="black", zorder=4,
                                 linewidth=0.5 if narrow else 1.4))
        x += width
    used = {byte for _, offset in lanes_in(request) for byte in range(offset, offset + request["bytes"])}
    coalesced = len(touched) <= math.ceil(len(used) / SECTOR) + 1  # an unaligned start costs one more
    colour = BLUE if coalesced else RED
    for lane, offset in lanes_in(request):
        at = left[offset // SECTOR] + offset % SECTOR / SECTOR * width
        axes.add_patch(Rectangle((at, 0.3), wide, 0.5, facecolor=colour, edgecolor="white",
                                 linewidth=0 if narrow else 0.3))
        axes.plot([lane + 0.45, at + wide / 2], [2.0, 0.8], color=colour, linewidth=0.7)
    axes.text(-0.4, 0.55, "sectors", ha="right", va="center", fontsize=8)
    return (f"{request['sectors']} sector{'s' if request['sectors'] != 1 else ''}, {len(used)} of their "
            f"{SECTOR * len(touched)} bytes used" + ("" if coalesced else ": not coalesced"))


def words_by_part(request):
    """{bank: the words read from it}, for each part of the warp that shared memory serves at a time. All
    lanes are one part where each reads up to 4 bytes; with 8 bytes a part is half a warp, with 16 a
    quarter."""
    lanes_of_part = WARP * WORD // max(WORD, request["bytes"])
    parts = {}
    for lane, offset in lanes_in(request):
        words = parts.setdefault(lane // lanes_of_part, {})
        for word in range(offset // WORD, (offset + request["bytes"] - 1) // WORD + 1):
            words.setdefault(word % BANKS, set()).add(word)
    return list(parts.values())


def draw_banks(axes, request):
    """Lanes above, the banks below. If the request takes more wavefronts than it has parts, there is a
    conflict: a bank of which one part wants several words says how many."""
    parts = words_by_part(request)
    conflict = request["wavefronts"] > len(parts)
    for bank in range(BANKS):
        wanted = max(len(words.get(bank, ())) for words in parts)
        in_the_way = conflict and wanted > 1
        colour = "white" if not wanted else RED if in_the_way else BLUE
        axes.add_patch(Rectangle((bank, 0.3), 0.9, 0.5, facecolor=colour, edgecolor="black", linewidth=0.5,
                                 hatch="xx" if in_the_way else None))
        if in_the_way:
            axes.text(bank + 0.45, 0.05, str(wanted), ha="center", va="center", fontsize=6)
    for lane, offset in lanes_in(request):
        bank = offset // WORD % BANKS
        axes.plot([lane + 0.45, bank + 0.45], [2.0, 0.8], color=RED if conflict else BLUE, linewidth=0.7)
    axes.text(-0.4, 0.55, "banks", ha="right", va="center", fontsize=8)
    says = f"{request['wavefronts']} wavefront{'s' if request['wavefronts'] != 1 else ''}"
    if conflict:
        return f"{says}, {len(parts)} without a conflict"
    return f"{says}, no conflict" if len(parts) > 1 else says


def draw_trace(trace, stage, out):
    chapter = trace["chapter"]
    panels = {}  # launches of one kernel mostly look alike
    for launch in stage["launches"]:
        for arrays, request in telling_requests(launch):
            panels.setdefault((launch["kernel"], pattern(request)), (launch["kernel"], arrays, request))
    panels = list(panels.values())
    left_out = max(0, len(panels) - MOST_PANELS)
    panels = panels[:MOST_PANELS]
    if not panels:
        return None
    figure, rows = pyplot.subplots(len(panels), 1, squeeze=False, figsize=(7.2, 0.9 + 1.5 * len(panels)))
    for axes, (kernel, arrays, request) in zip(rows[:, 0], panels):
        draw_lanes(axes)
        cost = draw_banks(axes, request) if request["space"] == "shared" else draw_sectors(axes, request)
        what = f"{request['operation']} of {', '.join(sorted(arrays))}, {request['bytes']} bytes per lane"
        line = request["place"].rpartition(":")[2]
        axes.set_title(textwrap.fill(f"{kernel}, line {line}: {what}", 95) + f"\n{cost}", fontsize=8.5,
                       loc="left", x=0)
        axes.set_xlim(-3.2, WARP + 0.3)
        axes.set_ylim(-0.15, 2.6)
        axes.axis("off")
    more = f"; {left_out} more kinds of access are left out" if left_out else ""
    return finish(figure, f"{chapter}, {stage['name']}: what the first warp touches",
                  f"traced on the CPU device, {shape_text(trace, trace['shape'])}{more}",
                  f"trace_{chapter}_{stage['name']}", out,
                  narrow=chapter == "00_first_kernel")  # whose lesson shows traces; they are large files


def read_trace(path):
    trace = plain(load(path))
    require_schema(trace, str(path))
    require(trace, TRACE, str(path))
    require_shape(trace["shape"], f"{path}.shape")
    for s, stage in enumerate(trace["stages"]):
        for n, launch in enumerate(stage["launches"]):
            for r, request in enumerate(launch["requests"]):
                where = f"{path}.stages[{s}].launches[{n}].requests[{r}]"
                if len(request["offsets"]) != WARP or max(request["offsets"]) < 0:
                    raise BadFile(f"{where}.offsets: expected {WARP} numbers, not all -1")
                if not 1 <= request["bytes"] <= WIDEST:
                    raise BadFile(f"{where}.bytes: expected 1 to {WIDEST}, found {request['bytes']}")
    return trace


# --- Main ---


def require_ours(chapter, measured):
    """Of chapters that are bound by arithmetic, slow stages leave out the large shapes."""
    right = {shape: any(stage.kind == "ours" for stage in stages) for shape, stages in measured.sizes.items()}
    if not any(right.values()) or not (measured.counts_operations or all(right.values())):
        missing = next(shape for shape, has_ours in right.items() if not has_ours)
        raise BadFile(f"{chapter}, {measured.run['device']['name']}, {shape_text(measured.run, missing)}: "
                      "no stage of ours is right")


def draw_folders(folders, counts, out):
    """Draws each chapter of the first folder, beside the same chapter of the others where they have it."""
    measured = [read_folder(folder)[0] for folder in folders]
    counted = read_folder(counts or folders[0])[1]
    drawn = []
    for chapter in measured[0]:
        machines = [chapters[chapter] for chapters in measured if chapter in chapters]
        for machine in machines:
            require_ours(chapter, machine)
        shapes = {"": largest_of_all(machines)}
        if machines[0].largest[0] == 1:  # one row; some stages want several
            shapes["_rows"] = machines[0].fullest
        if all(machine.counts_operations for machine in machines):
            shape = machines[0].fullest  # the large shapes are not for slow stages
            drawn += [draw_speed_up(chapter, machines, shape, "", out),
                      draw_arithmetic(chapter, machines, shape, out)]
            continue
        for suffix, shape in shapes.items():
            drawn += [draw(chapter, machines, shape, suffix, out) for draw in (draw_speed_up, draw_bandwidth)]
        drawn.append(draw_predicted(chapter, machines, out))
        if len(machines[0].series) > 1:
            drawn.append(draw_sizes(chapter, machines, out))
    return drawn + [draw_bytes(chapter, run, out) for chapter, run in counted.items()]


def draw_traces(paths, out):
    traces = [read_trace(path) for path in paths]
    drawn = [draw_trace(trace, stage, out) for trace in traces for stage in trace["stages"]]
    return [name for name in drawn if name]


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=COMMITTED,
                        help="folder of the chapters' JSON")
    parser.add_argument("--compare", nargs="?", type=pathlib.Path, const=COMMITTED, metavar="FOLDER",
                        help="draw this folder's runs beside it (default: the committed ones)")
    parser.add_argument("--trace", nargs="+", type=pathlib.Path, metavar="FILE", help="draw these instead")
    parser.add_argument("--counts", type=pathlib.Path, metavar="FOLDER",
                        help="counts are here, not beside the times")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER", help="where the figures go")
    options = parser.parse_args()
    beside = options.trace[0].parent if options.trace else options.folder
    out = options.out or (ROOT / "plots" if beside == COMMITTED else beside) / "figures"
    try:
        if options.trace:
            drawn = draw_traces(options.trace, out)
        else:
            folders = [options.folder, options.compare] if options.compare else [options.folder]
            drawn = draw_folders(folders, options.counts, out)
    except BadFile as bad:
        fail(2, bad)
    except OSError as error:
        fail(3, f"{error.filename or out}: {error.strerror}")
    report(f"{len(drawn)} figure{'s' * (len(drawn) != 1)} in {out}")


if __name__ == "__main__":
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        main()
    except KeyboardInterrupt:
        fail(3, "stopped")
