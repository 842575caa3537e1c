"""The figures: from good data, the same each time and as committed; bad data is refused with file and field.

    python3 tests/plots/check_plots.py build/bin    exit status 4 where there is no matplotlib
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
COMMITTED_DATA = ROOT / "plots" / "data" / "h200"
COMMITTED_FIGURES = ROOT / "plots" / "figures"
NO_MATPLOTLIB = 3  # plot.py's exit status


def plot(*arguments):
    done = run(sys.executable, ROOT / "plots" / "plot.py", *arguments)
    return done.returncode, done.stdout + done.stderr


def texts(svg):
    """All that is written in a figure."""
    return [element.text for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


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
        expect(f"plot.py {arguments[0]} draws", status == 0, output)


def check_committed(folder):
    traces = count_and_trace(folder)
    draw_all(folder, traces, folder / "one")
    draw_all(folder, traces[:1], folder / "two")  # one chapter's traces are drawn as all are
    drawn = sorted(path.name for path in (folder / "one").glob("*.svg"))
    for chapter in chapters():
        data = COMMITTED_DATA / f"{chapter}.json"
        measured = json.loads(data.read_text()) if data.exists() else []
        arithmetic = measured and measured[0]["stages"][0]["tflops"]
        of_times = ("speed_up", "arithmetic") if arithmetic else ("speed_up", "bandwidth", "predicted")
        kinds = (*of_times, "bytes") if measured else ("bytes",)
        wanted = [f"{chapter}_{kind}.svg" for kind in kinds]
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
        kept = committed.exists() or not name.startswith("trace_")  # of the traces, what the lessons show
        if kept and (not committed.exists() or texts(one) != texts(committed)):
            expect(f"{name} is as committed", False, "./workbook plots draws it anew")
    expect(f"{len(drawn)} figures are the same each time, not empty, and as committed", drawn)
    committed = sorted(path.name for path in COMMITTED_FIGURES.glob("*.svg"))
    expect("no other figures are committed", set(committed) <= set(drawn), set(committed) - set(drawn))
    return traces


def check_compare(folder):
    own = folder / "own"
    own.mkdir()
    runs = json.loads((COMMITTED_DATA / "01_multiply_add.json").read_text())
    for one in runs:
        one["device"]["name"] = "Another GPU"
    (own / "01_multiply_add.json").write_text(json.dumps(runs))
    status, output = plot(own, "--compare")
    expect("a run is drawn beside the committed ones, in its own folder", status == 0, output)
    for kind in ("speed_up", "bandwidth", "sizes", "predicted"):
        written = " ".join(texts(own / "figures" / f"01_multiply_add_{kind}.svg"))
        both = "Another GPU, 20" in written and "NVIDIA H200, 20" in written
        expect(f"the caption of {kind} names both GPUs", both, written)


def check_bad(folder, traces):
    good = json.loads((COMMITTED_DATA / "01_multiply_add.json").read_text())
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
    trace = json.loads(traces[0].read_text())
    trace["stages"][0]["launches"][0]["requests"][0]["offsets"].pop()
    path = str(bad / "trace.json")
    as_trace = {"name": "trace.json", "arguments": ["--trace", bad / "trace.json"]}
    refused("a trace of 31 lanes", trace, path, "requests[0].offsets", **as_trace)
    trace = json.loads(traces[0].read_text())
    trace["stages"][0]["name"] = "/../../../x"
    refused("a traced stage outside of it", trace, path, "stages[0].name", "/../../../x", **as_trace)
    refused("a chapter's JSON as a trace", good, path, "schema", **as_trace)
    refused("a trace that is not there", None, path, "No such file", **as_trace)
    expect("nothing was drawn of it", not out.exists())


def main():
    status, output = plot("--help")
    if status == NO_MATPLOTLIB:
        skip(output)
    expect("--help", status == 0, output)
    with tempfile.TemporaryDirectory() as folder:
        traces = check_committed(pathlib.Path(folder))
        check_compare(pathlib.Path(folder))
        check_bad(pathlib.Path(folder), traces)


main()
