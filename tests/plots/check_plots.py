"""The figures: from good data, the same each time and as committed; bad data is refused with file and field.

    python3 tests/plots/check_plots.py build/bin    exit status 4 where there is no matplotlib
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, skip

sys.path.insert(0, str(ROOT / "plots"))
import origin
try:
    import plot as plotting
except SystemExit:
    skip("there is no matplotlib")

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
COMMITTED_DATA = ROOT / "plots" / "data" / "h200"
COMMITTED_FIGURES = ROOT / "plots" / "figures"


def plot(*arguments):
    """Exit status and output of plot.py with these arguments. Its process is a child of this one, which has
    imported matplotlib already: that would take longer than most of these tests."""
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
            sys.argv = ["plot.py", *map(str, arguments)]
            status = 1
            try:
                plotting.main()
                status = 0
            except SystemExit as end:
                status = end.code or 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return status, output.read()


def texts(svg):
    """All that is written in a figure."""
    return [element.text for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


NUMBER = re.compile(r"(?<![#\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
# Points, of which a figure is 518 wide. Versions of matplotlib differ by fractions of one.
TOLERANCE = 0.6


def shapes(svg):
    """For each drawn element: its kind, the text around the numbers in its geometry, and these numbers.
    Elements that matplotlib names by a hash are left out."""
    found = []
    for element in ElementTree.parse(svg).iter():
        kind = element.tag.rpartition("}")[2]
        if kind == "style":
            found.append((kind, "text", element.text, []))
        for attribute in ("d", "transform", "x", "y", "style"):
            value = element.get(attribute)
            if value is None or kind not in ("path", "use", "text", "g", "rect") or "url(" in value:
                continue
            numbers = [float(number) for number in NUMBER.findall(value)]
            found.append((kind, attribute, NUMBER.sub("#", value), numbers))
    return found


def first_difference(one, other):
    """The element that differs in place, form or colour in two figures; "" if none does."""
    if len(one) != len(other):
        return f"{len(one)} drawn elements, {len(other)} before"
    for new, old in zip(one, other):
        far = any(abs(a - b) > TOLERANCE for a, b in zip(new[3], old[3]))
        if new[:3] != old[:3] or far:
            now, before = (f"{text[:60]} {numbers[:6]}" for _, _, text, numbers in (new, old))
            return f"{new[0]} {new[1]}: {now}, before: {before}"
    return ""


def check_comparison(folder):
    """The comparison notices a point that moves, another colour and a missing element."""
    figure = COMMITTED_FIGURES / "trace_00_first_kernel_02_coalesced.svg"
    drawn, text = shapes(figure), figure.read_text()
    point = re.search(r"L (\d+)\.(\d+) ", text)
    moved = text[:point.start()] + f"L {int(point[1]) + 3}.{point[2]} " + text[point.end():]
    nudged = text[:point.start()] + f"L {int(point[1]) + 0.1 + float('0.' + point[2])} " + text[point.end():]
    light, _, elements = text.partition("</style>")
    recoloured = light + "</style>" + elements.replace("#0072b2", "#d55e00", 1)
    darker = light.replace("#4da6e0", "#000000", 1) + "</style>" + elements
    shorter = re.sub(r"<path d=[^>]*/>", "", text, count=1)
    cases = (("a point 3 to the right", moved, True), ("a tenth of a point", nudged, False),
             ("another colour", recoloured, True), ("another dark colour", darker, True),
             ("a missing path", shorter, True))
    for what, content, noticed in cases:
        changed = folder / "changed.svg"
        changed.write_text(content)
        expect(f"the comparison of figures: {what}",
               content != text and bool(first_difference(shapes(changed), drawn)) == noticed)


def chapters():
    return re.findall(r"^add_chapter\((\w+)", (ROOT / "chapters" / "CMakeLists.txt").read_text(), re.M)


def count_and_trace(folder):
    """The counts of all chapters into `folder`, and the files of their traces."""
    traces = []
    for chapter in chapters():
        traces.append(folder / "traces" / f"{chapter}.json")
        traces[-1].parent.mkdir(exist_ok=True)
        for option in (["--json", folder / f"{chapter}.json"], ["--trace", traces[-1]]):
            subprocess.run([PROGRAMS / chapter, "--device", "cpu", *option], check=True, capture_output=True)
    return traces


def draw_all(counts, traces, out):
    for arguments in (["--counts", counts], ["--trace", *traces]):
        status, output = plot(*arguments, "--out", out)
        right = status == 0 and "Warning" not in output
        expect(f"plot.py {arguments[0]} draws, without a warning", right, output)


def figures_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.svg"))


def check_committed(folder):
    traces = count_and_trace(folder)
    draw_all(folder, traces, folder / "one")
    draw_all(folder, traces[:1], folder / "two")  # one chapter's traces are drawn as all are
    drawn = figures_in(folder / "one")
    for chapter in chapters():
        data = COMMITTED_DATA / f"{chapter}.json"
        measured = json.loads(data.read_text()) if data.exists() else []
        arithmetic = measured and measured[0]["stages"][0]["tflops"]
        of_times = ("speed_up", "arithmetic") if arithmetic else ("speed_up", "bandwidth", "predicted")
        kinds = (*of_times, "bytes") if measured else ("bytes",)
        wanted = [name for kind in kinds
                  for name in (f"{chapter}_{kind}.svg", f"narrow/{chapter}_{kind}_narrow.svg")]
        expect(f"{chapter} has its figures", set(wanted) <= set(drawn), drawn)
        # The sizes of chapter 04 are no series: rows and columns change.
        if measured and not arithmetic and chapter != "04_relu_layernorm":
            expect(f"{chapter} has its times against the size", f"{chapter}_sizes.svg" in drawn, drawn)
        expect(f"{chapter} has traces", any(name.startswith(f"trace_{chapter}_") for name in drawn), drawn)
    for name in drawn:
        one = folder / "one" / name
        again = folder / "two" / name
        if again.exists() and one.read_bytes() != again.read_bytes():
            expect(f"{name} is the same twice", False)
        if len(texts(one)) < 3 or one.stat().st_size < 5000:
            expect(f"{name} is not empty", False)
        committed = COMMITTED_FIGURES / name
        kept = committed.exists() or "trace_" not in name  # of the traces, what the lessons show
        if not kept:
            continue
        if not committed.exists() or texts(one) != texts(committed):
            expect(f"{name} is as committed", False, "./workbook plots draws it again")
        elif first_difference(shapes(one), shapes(committed)):
            expect(f"{name} is drawn as committed", False, first_difference(shapes(one), shapes(committed)))
    expect(f"{len(drawn)} figures are the same each time, not empty, and as committed", drawn)
    committed = figures_in(COMMITTED_FIGURES)
    expect("no other figures are committed", set(committed) <= set(drawn), set(committed) - set(drawn))
    return traces


def store(folder, chapter, device, change=lambda stage: None):
    """Stores the committed runs of a chapter as those of another card, with each stage changed."""
    runs = json.loads((COMMITTED_DATA / f"{chapter}.json").read_text())
    for one in runs:
        one["device"]["name"] = device
        for stage in one["stages"]:
            change(stage)
    (folder / f"{chapter}.json").write_text(json.dumps(runs))


def check_compare(folder):
    own = folder / "own"
    own.mkdir()
    store(own, "01_multiply_add", "Another GPU")
    status, output = plot(own, "--compare")
    expect("a run is drawn beside the committed ones, in its own folder", status == 0, output)
    for kind in ("speed_up", "bandwidth", "sizes", "predicted"):
        written = " ".join(texts(own / "figures" / f"01_multiply_add_{kind}.svg"))
        both = "Another GPU, 20" in written and "NVIDIA H200, 20" in written
        expect(f"the caption of {kind} names both GPUs", both, written)

    def slow_down(stage):
        stage["tflops"] = stage["tflops"] and stage["tflops"] / 20

    (own / "01_multiply_add.json").unlink()
    store(own, "05_linear_gelu", "A small GPU", slow_down)
    status, output = plot(own, "--compare")
    written = " ".join(texts(own / "figures" / "05_linear_gelu_arithmetic.svg"))
    expect("a small card's operations a second have an axis that fits it", status == 0
           and "% of the card's fastest" in written, output + written)


def check_wide_access(folder, traces):
    """The text of a figure about 16-byte accesses, which does not depend on the order of a trace."""
    trace = json.loads(traces[0].read_text())
    stage = trace["stages"][0]
    launch = stage["launches"][0]
    stored = {**launch["requests"][0], "space": "shared", "operation": "store", "bytes": 16}
    for name, apart, wavefronts, says in (("minimum", 16, 4, "4 wavefronts, no conflict"),
                                          ("conflict", 128, 32, "32 wavefronts, 4 without a conflict")):
        request = {**stored, "offsets": [apart * lane for lane in range(32)], "wavefronts": wavefronts}
        one_kind = {**launch, "requests": [request]}
        of_one = {**trace, "stages": [{**stage, "name": name, "launches": [one_kind]}]}
        (folder / f"{name}.json").write_text(json.dumps(of_one))
        status, output = plot("--trace", folder / f"{name}.json", "--out", folder / "wide")
        written = texts(folder / "wide" / f"trace_{trace['chapter']}_{name}.svg") if status == 0 else output
        expect(f"16-byte accesses, {name}", says in written, written)
    figures = []
    for step in (1, -1):
        (folder / "order.json").write_text(json.dumps({**trace, "stages": [
            {**stage, "launches": [{**launch, "requests": launch["requests"][:2][::step]}]}]}))
        plot("--trace", folder / "order.json", "--out", folder / "order")
        figures.append((folder / "order" / f"trace_{trace['chapter']}_{stage['name']}.svg").read_text())
    expect("equally costly requests are drawn alike in any order", figures[0] == figures[1])


def check_words(drawn):
    """The shapes, axes and colours in figures of committed data."""
    cases = (("02_add_mul_exp_sizes", "other stages", "ours", "PyTorch"),
             ("04_relu_layernorm_speed_up", "RxC = 32768x4096", "ours", "library", "PyTorch"),
             ("04_relu_layernorm_predicted", "speed-up over 06_columns", "speed-up over 07_unfused"),
             ("05_linear_gelu_bytes", "MxKxN = ", "logarithmic axis"),
             ("05_linear_gelu_speed_up", "MxKxN = "))
    for name, *wanted in cases:
        written = "\n".join(texts(drawn / f"{name}.svg"))
        expect(f"what {name} says", all(text in written for text in wanted), written)
    lines = len(re.findall("#c4c4c4", (drawn / "02_add_mul_exp_sizes.svg").read_text().split("</style>")[1]))
    expect("most lines of 02_add_mul_exp_sizes are grey", lines >= 6, lines)


def check_bad(folder, traces):
    good = json.loads((COMMITTED_DATA / "01_multiply_add.json").read_text())
    for one in good:  # a commit of this history: the data's own may be listed as an exception there
        one["commit"] = origin.git("rev-parse", "--short=12", "HEAD")[1] or "0" * 12
    bad, out = folder / "bad", folder / "nothing"
    bad.mkdir()

    def refused(what, content, *named, name="01_multiply_add.json", arguments=None):
        for old in bad.glob("*"):
            old.unlink()
        if content is not None:
            (bad / name).write_text(content if isinstance(content, str) else json.dumps(content))
        status, output = plot(*(arguments or [bad]), "--out", out)
        right = status == 2 and all(text in output for text in named) and output.count("\n") == 1
        expect(f"{what} is refused", right, f"exit status {status}: {output}")

    def changed(change):
        runs = json.loads(json.dumps(good))
        change(runs)
        return runs

    path = str(bad / "01_multiply_add.json")
    refused("an empty folder", None, str(bad), "no .json file")
    refused("an empty file", "", path, "not JSON")
    refused("a truncated file", json.dumps(good)[:5000], path, "not JSON")
    refused("a list of nothing", [], path, "expected a list of runs")
    refused("foreign JSON", {"name": "something", "version": 3}, path, "expected a list of runs")
    refused("a foreign list", [1, 2], path, "[0].schema")
    refused("an old schema", changed(lambda r: r[1].update(schema=0)), path, "[1].schema: 0", "reads 1")
    refused("a missing field", changed(lambda r: r[0]["device"].pop("l2_bytes")), path, "[0].device.l2_bytes")
    refused("a missing date", changed(lambda r: r[0].pop("date")), path, "[0].date")
    refused("a text for a number", changed(lambda r: r[2]["stages"][1]["time_us"].update(median="fast")),
            path, "[2].stages[1].time_us.median: expected a number")
    refused("a stage without times", changed(lambda r: r[0]["stages"][0].update(time_us=None)), path,
            "[0].stages[0].time_us")
    refused("a run without stages", changed(lambda r: r[0].update(stages=[])), path, "[0].stages")
    refused("a chapter outside the folder of the figures",
            changed(lambda r: [run.update(chapter="../../x") for run in r]), path, "[0].chapter", "../../x")
    for number in (float("nan"), float("inf"), -1, 0, 10 ** 400):
        refused(f"a time of {str(number)[:6]}",
                changed(lambda r: r[0]["stages"][0]["time_us"].update(median=number)), path,
                "[0].stages[0].time_us.median")
    refused("a shape of nothing", changed(lambda r: r[0].update(shape=[0])), path, "[0].shape[0]")
    refused("a shape of four", changed(lambda r: r[0].update(shape=[2, 2, 2, 2])), path, "[0].shape")
    refused("a rate in words", changed(lambda r: r[0]["stages"][0].update(tflops="fast")), path,
            "[0].stages[0].tflops: expected a number")
    refused("a run without right stages",
            changed(lambda r: [stage.update(status="wrong") for stage in r[0]["stages"]]),
            "01_multiply_add", "no stage of ours is right")
    refused("a ceiling of 0", changed(lambda r: r[0]["stages"][0]["ceiling_us"].update(median=0)), path,
            "[0].stages[0].ceiling_us.median")
    trace = json.loads(traces[0].read_text())
    trace["stages"][0]["launches"][0]["requests"][0]["offsets"].pop()
    path = str(bad / "trace.json")
    as_trace = {"name": "trace.json", "arguments": ["--trace", bad / "trace.json"]}
    refused("a trace of 31 lanes", trace, path, "requests[0].offsets", **as_trace)
    trace = json.loads(traces[0].read_text())
    trace["stages"][0]["launches"][0]["requests"][0]["bytes"] = 0
    refused("accesses of 0 bytes", trace, path, "requests[0].bytes", **as_trace)
    trace = json.loads(traces[0].read_text())
    trace["stages"][0]["name"] = "/../../../x"
    refused("a traced stage outside of it", trace, path, "stages[0].name", "/../../../x", **as_trace)
    refused("a chapter's JSON as a trace", good, path, "schema", **as_trace)
    refused("a trace that is not there", None, path, "No such file", **as_trace)
    expect("nothing was drawn of it", not out.exists())


def check_odd_names_and_places(folder):
    """Names that matplotlib would read as formulas, or that SVG cannot hold; a folder that is a file."""
    odd = folder / "odd"
    odd.mkdir()

    def rename(stage):
        stage["name"] = f"${stage['name']}$"

    store(odd, "01_multiply_add", "A $\\frac{1$ GPU\x01", rename)
    status, output = plot(odd, "--out", odd / "figures")
    expect("names with $ are drawn", status == 0, output)
    written = texts(odd / "figures" / "01_multiply_add_speed_up.svg") if status == 0 else []
    expect("names with $ are written as they are", "$01_unfused$" in written, written)
    in_the_way = folder / "a file"
    in_the_way.write_text("")
    for out in (in_the_way, in_the_way / "below"):
        status, output = plot("--out", out)
        right = status == 3 and output.count("\n") == 1 and str(in_the_way) in output
        expect("output that cannot be written is one sentence, status 3", right, f"{status}: {output}")
    call = [sys.executable, ROOT / "plots" / "plot.py", odd, "--out", odd / "figures"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True)
    right = done.returncode == 3 and "standard output: No space" in done.stderr
    expect("a full disk behind standard output", right and "Traceback" not in done.stderr, done.stderr)


def check_interrupted(out):
    """Ctrl-C while it draws ends it with one line."""
    drawing = subprocess.Popen([sys.executable, ROOT / "plots" / "plot.py", "--out", out], text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while drawing.poll() is None and not (out.is_dir() and any(out.iterdir())):
        time.sleep(0.05)
    drawing.send_signal(signal.SIGINT)
    errors = drawing.communicate()[1]
    ended = drawing.returncode == 3 and errors.count("\n") == 1 and "stopped" in errors
    expect("Ctrl-C ends it without a traceback", ended, f"exit status {drawing.returncode}: {errors}")


def main():
    status, output = plot("--help")
    expect("--help", status == 0, output)
    with tempfile.TemporaryDirectory() as folder:
        check_comparison(pathlib.Path(folder))
        check_odd_names_and_places(pathlib.Path(folder))
        traces = check_committed(pathlib.Path(folder))
        check_words(pathlib.Path(folder) / "one")
        check_wide_access(pathlib.Path(folder), traces)
        check_compare(pathlib.Path(folder))
        check_interrupted(pathlib.Path(folder) / "interrupted")
        check_bad(pathlib.Path(folder), traces)


main()
