"""./workbook view and --lines: pages about files and exercises, right, wrong, and not even compiling.

python3 tests/cli/check_view.py COPY: the copy of the tree that tests/cli/check_launcher.py has made. The page
itself is tested by check_view_page.py.
"""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, missing, run

COPY = fresh_copy()

FILE = """#include "play.hpp"

namespace DEVICE {

__global__ void twice(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];  // </script>
}

void play() {
  const int n = 1000;
  Array<float> x("x", n, [](int i) { return 0.5f * i; });
  Array<float> out("out", n);
  launch(twice, 4, 256, x.data(), out.data(), n);
  launch(twice, 4, 256, x.data() + 1, out.data(), n - 1);
}

}  // namespace DEVICE
"""


def call(what, words, status, *texts):
    """Calls the workbook, expects that exit status and those texts, and returns what it printed."""
    done = run(COPY / "workbook", *words)
    output = done.stdout + done.stderr
    lacking = missing(texts, output)
    expect(what, done.returncode == status and not lacking,
           f"exit status {done.returncode}, missing {lacking}:\n{output}")
    wide = [line for line in done.stdout.splitlines() if len(line) > 80 and "The page" not in line]
    expect(f"{what}: within 80 columns", not wide, wide)
    return done.stdout


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                                page.read_text(), re.S)[1])


def view(what, source, status, *texts, options=(), name="mine.cu"):
    """Views `source`, and returns the data of its page, None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        file, page = pathlib.Path(folder) / name, pathlib.Path(folder) / "out" / f"view_{name}.html"
        file.write_text(source)
        output = call(what, ["view", file, "--out", page.parent, *options], status, *texts)
        named = str(page) in output
        expect(f"{what}: the page is named where there is one", page.exists() == named, output)
        return data_of(page) if page.exists() else None


def lines_sum(data, field):
    return sum(site["counts"][field] for launch in data["launches"] for site in launch["sites"])


def table_sum(data, field):
    return sum(launch["counts"][field] for launch in data["launches"])


data = view("a file", FILE, 0, "The page: ")
expect("its source is on the page", data["files"][0]["lines"] == FILE.splitlines(), data["files"])
for field, wanted in (("load_sectors", 125 + 156), ("store_sectors", 125 + 125), ("load_requests", 64)):
    expect(f"the {field} of its lines are those of its launches",
           lines_sum(data, field) == table_sum(data, field) == wanted,
           f"{lines_sum(data, field)} {table_sum(data, field)} {wanted}")
lines = {site["line"] for launch in data["launches"] for site in launch["sites"]}
expect("at line 7 alone", lines == {7}, lines)

data = view("a file with a finding", FILE.replace("if (i < n) ", ""), 1, "out of bounds: kernel twice")
places = [place["line"] for message in data["messages"] for place in message["places"]]
expect("has it at its line", places == [7], data["messages"])
expect("and what was counted before", data["launches"][0]["ended_early"]
       and lines_sum(data, "load_requests") == table_sum(data, "load_requests") > 0, data["launches"])
data = view("a name with spaces and parentheses", FILE.replace("if (i < n) ", ""), 1, "out of bounds",
            name="my (first) file.cu")
places = [(place["file"], place["line"]) for message in data["messages"] for place in message["places"]]
expect("has its finding at its line", places == [(0, 7)], data["messages"])
MANY = FILE.replace("  launch(twice, 4,", "  for (int i = 0; i < 9999; ++i) launch(twice, 4,", 1)
data = view("10,000 launches", MANY, 0, "The page: ")
size = len(json.dumps(data))
expect(f"make a page that is not large: {size:,} characters",
       data["launch_count"] == 10000 and size < 2 ** 21)
expect("with the sums over all", lines_sum(data, "load_sectors") == table_sum(data, "load_sectors")
       == 9999 * 125 + 156, table_sum(data, "load_sectors"))
ENDLESS = FILE.replace("if (i < n) out[i] = 2.0f * x[i]", "for (;;) out[i % n] = x[i % n]")
data = view("a kernel without end", ENDLESS, 1, "infinite loop")
expect("has counts too", lines_sum(data, "store_requests") > 0, data["launches"])
expect("a file without a launch has no page",
       view("no launch", FILE.replace("  launch(", "  // launch("), 1, "Does the file launch one?") is None)
expect("nor has one that does not compile",
       view("a compiler error", FILE.replace("2.0f * x[i]", "y"), 1, "mine.cu:7:", "error:") is None)
for status in (0, 2, 3):
    ENDS = FILE.replace("  launch(", f"  exit({status});\n  launch(")
    page = view(f"exit({status})", ENDS, 1, "The program ended itself: does your file call exit?")
    expect("has no page either", page is None)
data = view("a finding as a note", FILE.replace("2.0f * x[i]", "out[i] + x[i]"), 0,
            "note: uninitialised device memory", options=["--note", "uninitialised"])
note = data["messages"][0]
expect("is at its line", note["kind"] == "note" and note["places"][0]["line"] == 7, note)

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "mine.cu"
    file.write_text(FILE)
    for command in ("view", "play"):
        call(f"{command} --lines", [command, file, "--lines"], 0, "twice, 2 launches",
             "7 128 531 94% if (i < n) out[i] = 2.0f * x[i];", "sum 128 531 94%")
    call("a folder that cannot be made", ["view", file, "--out", "/dev/null/x"], 2, "--out /dev/null/x: ")
    helper, own = (pathlib.Path(folder) / name for name in ("inc/helper.hpp", "own/mine.cu"))
    helper.parent.mkdir()
    own.parent.mkdir()
    helper.write_text("__device__ inline float load(const float* x) {\n  return *x;\n}\n")
    own.write_text(FILE.replace("namespace DEVICE {", 'namespace DEVICE {\n#include "../inc/helper.hpp"', 1)
                   .replace("x[i]", "load(x + i)"))
    text = call("a helper in another folder", ["play", own, "--lines"], 0, str(helper), "2 64 281")
    expect("is named without ..", ".." not in re.sub(r"\.\.\.", "", text), text)
    (pathlib.Path(folder) / "folder.cu").mkdir()
    call("a folder", ["view", f"{folder}/folder.cu"], 2, "folder.cu is not a regular file")
    call("a name that is too long", ["view", f"{folder}/{'x' * 300}.cu"], 2, "File name too long")
    call("a folder whose name is too long", ["view", file, "--out", "x" * 300], 2, "File name too long")
    call("--size of a file", ["view", file, "--size", "5"], 2, "--size applies to exercises")
    call("--lines with --json", ["play", file, "--lines", "--json"], 2,
         "--lines and --json exclude each other")
call("a file that is not there", ["view", "/no/such.cu"], 2, "/no/such.cu does not exist")
call("a file without play()", ["view", COPY / "chapters/01_multiply_add/chapter.cu"], 1,
     "needs a function void play() in namespace DEVICE")
call("an exercise that is not there", ["view", "09.9"], 2, 'there is no exercise "09.9"')
call("help", ["view", "--help"], 0, "--lines", "--size", "--out")
call("numbers to predict", ["view", "01.5"], 2, "it asks for numbers")
call("a bad size", ["view", "01.1", "--size", "x"], 2, "01.1_fuse: --size x: expected N, a whole number")

with tempfile.TemporaryDirectory() as folder:
    call("an exercise as it came", ["view", "01.1", "--out", folder], 0, "01.1_fuse has not been started",
         "view_01.1_fuse.html")
    data = data_of(pathlib.Path(folder) / "view_01.1_fuse.html")
    at = data["at"]
    expect("is shown at a small size", at == "N = 5000" and data["result"], at)
    exercise = COPY / "chapters" / "01_multiply_add" / "exercises" / "1_fuse.cuh"
    kept = exercise.read_text()
    try:
        exercise.write_text(kept.replace("{", "{ }", 1))
        call("an exercise that does not compile", ["view", "01.1", "--out", folder], 1, "does not compile")
        exercise.write_text(kept.replace("  launch(", '  printf("first\\n");\n  exit(2);\n  launch(', 1))
        call("an exercise that ends itself", ["view", "01.1", "--out", folder], 1,
             "The program ended itself, at N = 5000, with exit status 2: does your file call exit?",
             "It printed:", "first")
        exercise.unlink()
        call("an exercise whose file is gone", ["view", "01.1"], 2, "./workbook reset 01.1 restores it")
    finally:
        exercise.write_text(kept)

text = call("run --lines", ["run", "01", "--stage", "2", "--size", "10000", "--lines"], 0,
            "Lines of 02_fused", "sum 1252 5000 100%")
call("run --lines on a GPU", ["run", "01", "--device", "gpu", "--lines"], 2, "only the CPU device counts")
