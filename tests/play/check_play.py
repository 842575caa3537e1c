"""./workbook play: kernels of the reader's own, right, wrong, and not even compiling.

python3 tests/play/check_play.py COPY: the copy of the tree that tests/cli/check_launcher.py has made.
"""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, missing, run

COPY = fresh_copy()

FILE = """#include "play.hpp"

namespace DEVICE {

__global__ void twice(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}

void play() {
  const int n = 1000;
  Array<float> x("x", n, [](int i) { return 0.5f * i; });
  Array<float> out("out", n);
  launch(twice, 4, 256, x.data(), out.data(), n);
  launch(twice, 4, 256, x.data() + 1, out.data(), n - 1);
  out.print(3);
}

}  // namespace DEVICE
"""


def play(what, source, status, *texts, options=(), never=None):
    """Plays `source`, expects that exit status, those texts and not `never`, and returns what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mine.cu"
        path.write_text(source)
        done = run(COPY / "workbook", "play", path, *options)
    output = done.stdout + done.stderr
    lacking = missing(texts, output)
    # But for code, and what the compiler and the CPU device quote of it.
    if "error: " not in output and ": kernel " not in output and "--json" not in options:
        wide = [line for line in output.splitlines() if len(line) > 80 and len(line.split()) > 1]
        expect(f"{what}: 80 columns", not wide, wide)
    expect(what, done.returncode == status and not lacking and not (never and never in output),
           f"exit status {done.returncode}, missing {lacking}, or {never} is there:\n{output}")
    return done.stdout


def INCLUDING(header):
    return f"#include <{header}>\n" + FILE


def content(path):
    """A file's bytes; none where it is there no more."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


play("the counts of each launch", FILE, 0, "out: 1 2 3 ...", "twice 4 256 32 125 100% 32 125 100% 0",
     "twice 4 256 32 156 80%")
report = json.loads(play("... as JSON", FILE, 0, options=["--json"]))
sectors = [launch["load_sectors"] for launch in report["launches"]]
expect("... with the same counts", sectors == [125, 156] and not report["finding"], report)
play("a finding", FILE.replace("if (i < n) ", ""), 1, "out of bounds: kernel twice",
     "reads x[1000] at line 7")
IN_PLACE = FILE.replace("if (i < n) out[i] = 2.0f * x[i];", "if (i < n) out[i] = out[i] + x[i];")
play("a finding after which a launch can go on", IN_PLACE, 1, "uninitialised device memory: kernel twice",
     "To go on after such a finding, and get it as a note: --note uninitialised")
play("... which does", IN_PLACE, 0, "note: uninitialised device memory: kernel twice", "twice 4 256 64",
     options=["--note", "uninitialised"])
play("... and not after one that cannot", IN_PLACE, 2,
     "--note bounds: no launch can go on after such a finding", options=["--note", "bounds"])
NOT_UTF8 = FILE.replace("if (i < n) ", "").replace('x("x"', r'x("x\xff"')
found = json.loads(play("a name that is no UTF-8, as JSON", NOT_UTF8, 1, options=["--json"]))["finding"]
expect("... is shown as far as it is", "reads x\ufffd[1000] at line 7" in found, found)
# Without a line about the file that includes it.
play("a compiler error", FILE.replace("2.0f * x[i]", "y"), 1, "mine.cu:7:", "error:", never="play_cpu")
ARRAY = '  Array<float> x("x", n, [](int i) { return 0.5f * i; });\n'
for what, array, *texts in (
        ("no elements", 'Array<float> y("y", 0);', "Array y is to have 0 elements: it needs at least 1"),
        ("-5 elements", 'Array<float> y("y", -5, [](int) { return 1; });',
         "Array y is to have -5 elements: it needs at least 1"),
        ("too many elements", "struct Page { char bytes[1 << 20]; }; Array<Page> y(\"y\", 2147483647);",
         "Array y of 2147483647 elements takes ", " GiB of memory, and ", " GiB are free"),
        ("no name", "Array<float> y(nullptr, 5);", "an Array has no name")):
    play(f"an Array of {what}", FILE.replace(ARRAY, f"{array}\n{ARRAY}"), 1, *texts)
play("a global Array", FILE.replace("void play", 'Array<float> y("y", 5);\nvoid play'), 1,
     "Array y is a global variable: make it a local variable of play().")
play("fewer than no elements to print", FILE.replace("out.print(3)", "out.print(-3)"), 0, "out: ...")
play("a launch in a kernel", FILE.replace("if (i < n) ", "launch(twice, 1, 1, x, out, n);"), 1,
     "host function in a kernel: kernel twice", "launches a kernel at line 7")
play("a barrier in host code", FILE.replace("out.print(3)", "__syncthreads()"), 1,
     "kernel function on the host: play", "host code uses __syncthreads()", "at line 16")
play("an exception that has no text", FILE.replace("out.print(3)", "throw 3"), 1,
     "the host code throws something that is no std::exception")
play("exit() in play()", FILE.replace("out.print(3)", "exit(0)"), 1,
     "The program ended itself: does your file call exit?")
play("_exit(77) in play()", INCLUDING("unistd.h").replace("out.print(3)", "_exit(77)"), 1,
     "The program ended itself with exit status 77: does ", " call _exit?")
play("_exit(0) in play()", INCLUDING("unistd.h").replace("out.print(3)", "_exit(0)"), 1,
     "The program ended itself with exit status 0")
play("a null pointer on the host, after output", INCLUDING("stdio.h").replace(
    "out.print(3);", 'printf("before\\n"); volatile int* volatile p = nullptr; *p = 1;'), 1, "before",
     "crash in host code: play", "host code crashes (Segmentation fault) at line 17")
play("a recursion without end on the host", INCLUDING("stdio.h").replace(
    "void play() {", "int deeper(int n) {\n  volatile int a[9] = {n};\n  return deeper(n + 1) + a[0];\n}\n"
    "void play() {").replace("out.print(3)", 'printf("before %d\\n", deeper(1))'), 1,
     "crash in host code: deeper", "deeper() calls itself, here ")
play("a signal in play()", INCLUDING("signal.h").replace("out.print(3);", "out.print(3); raise(SIGKILL);"), 1,
     "out: 1 2 3 ...", "was ended by signal 9 (Killed)")
LEFT = INCLUDING("stdlib.h").replace("out.print(3)", 'system("sleep 54321 & setsid sleep 54321 &")')
play("processes that play() leaves behind", LEFT, 0)
left = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"54321" in content(path)]
expect("... are ended", not left, left)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "wide.cu"
    path.write_bytes(FILE.encode("utf-16"))
    done = run(COPY / "workbook", "play", path)
    said = " ".join(done.stderr.split())
    sentence = f"{path} is not UTF-8 text (it begins with a UTF-16 byte order mark): save it as UTF-8."
    expect("a file in UTF-16", done.returncode == 1 and said == sentence, said)
play("no play()", "", 1, "needs a function void play() in namespace DEVICE")
play("a kernel alone", "__global__ void k() {}", 1, "needs a function void play() in namespace DEVICE")
play("another device", FILE, 2, "--device tpu: cpu or gpu", options=["--device", "tpu"])


# --- A starter file ---


def offered(what, answer, written):
    """Plays a file that is not there, at a terminal that answers."""
    with tempfile.TemporaryDirectory() as folder:
        near, far = pty.openpty()
        path = pathlib.Path(folder) / "new.cu"
        program = subprocess.Popen([COPY / "workbook", "play", path], stdin=far, stderr=far,
                                   stdout=subprocess.PIPE, text=True)
        os.write(near, answer.encode())
        output = program.communicate(timeout=300)[0]
        asked = os.read(near, 65536).decode()
        right = path.exists() == written and (program.returncode == 0) == written
        expect(what, right and "Write a starter file there? [y/N]" in asked,
               f"exit status {program.returncode}:\n{asked}{output}")
        return output


STARTER = (COPY / "docs/starter.cu").read_text()
offered("a starter is offered, and not written when it is not wanted", "\n", False)
output = offered("... and written, and played, when it is", "y\n", True)
expect("... and it is clean", not missing(["twice 4 256 32 125 100% 32 125 100% 0"], output), output)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "new.cu"
    done = run(COPY / "workbook", "play", path, stdin=subprocess.DEVNULL)
    said = " ".join(done.stderr.split())
    offer = f"does not exist. This writes a starter file there: ./workbook play --new {path}"
    expect("without a terminal it says how to get one", done.returncode == 2 and not path.exists()
           and offer in said, done.stderr)
    done = run(COPY / "workbook", "play", "--new", path)
    expect("--new writes it", done.returncode == 0 and path.read_text() == STARTER
           and "is a starter: change anything" in " ".join(done.stderr.split()), done.stderr)
    path.write_text(STARTER + "// mine")
    done = run(COPY / "workbook", "play", "--new", path)
    expect("... and replaces nothing", done.returncode == 2 and path.read_text() == STARTER + "// mine"
           and "already exists; --new does not overwrite files" in " ".join(done.stderr.split()), done.stderr)
    done = run(COPY / "workbook", "play", "--new", path.parent / "no" / "new.cu")
    expect("... where there is no folder, neither", done.returncode == 2
           and "there is no folder" in " ".join(done.stderr.split()), done.stderr)
    path.unlink()
    done = run(COPY / "workbook", "play", "--new", "--json", path)
    expect("... and the JSON is JSON", len(json.loads(done.stdout)["launches"]) == 1, done.stdout)

# Common mistakes that the page describes: the change, and what play says then.
LAUNCH = "launch(twice, ceil_div(n, threads), threads, x.data(), out.data(), n);"
CHANGES = {
    "leave out `if (i < n)`": ("if (i < n) ", ""),
    "`2.0f * out[i]` in place of `2.0f * x[i]`": ("2.0f * x[i]", "2.0f * out[i]"),
    "`out[0]` in place of `out[i]`": ("out[i] =", "out[0] ="),
    "`twice<<<4, 256>>>(...)` in place of `launch(twice, ...)`":
        (LAUNCH, "twice<<<4, 256>>>(x.data(), out.data(), n);"),
    "`x` in place of `x.data()`": ("x.data()", "x"),
    "a block of 2048 threads": ("threads = 256", "threads = 2048"),
    "no function `play()`": ("void play() {", "void player() {"),
    "an `Array` outside of `play()`": ("void play() {", 'Array<float> y("y", 5);\nvoid play() {'),
    "`cudaMalloc` in `play()`": ("out.print();", "float* y; cudaMalloc(&y, 4);"),
    "`x.data()[0]` in `play()`": ("out.print();", "x.data()[0] = 1.0f;"),
}
ROWS = dict(re.findall(r"^\| (.+) \| `(.+)` \|$",
                       (COPY / "docs/play.md").read_text().partition("## Common mistakes")[2], re.M))
expect("the page's mistakes are those that are tried", set(ROWS) == set(CHANGES), set(ROWS) ^ set(CHANGES))
for what, (old, new) in CHANGES.items():
    assert old in STARTER, old
    play(what, STARTER.replace(old, new), 1, ROWS[what])

done = run(COPY / "workbook", "play", "/no/such.cu", stdin=subprocess.DEVNULL)
expect("a file that is not there", done.returncode == 2 and "/no/such.cu does not exist" in done.stderr,
       f"{done.returncode} {done.stderr}")


def start(folder, name, value):
    """Starts a play of a file that launches its kernel and prints `value` times 0, 1 and 2."""
    path = pathlib.Path(folder) / name
    path.write_text(FILE.replace("2.0f * x[i]", f"{value}.0f * x[i]"))
    return subprocess.Popen([COPY / "workbook", "play", path], stdout=subprocess.PIPE, text=True)


with tempfile.TemporaryDirectory() as folder:
    values = (4, 6, 8)
    started = [start(folder, f"{value}.cu", value) for value in values]
    for value, play_of_it in zip(values, started):
        output = play_of_it.communicate()[0]
        right = f"{value}.cu" in output and f"out: {value / 2:g} {value:g} {1.5 * value:g} ..." in output
        expect("each of several plays at once runs its own file", right, output)

    mine, older = pathlib.Path(folder) / "mine.cu", pathlib.Path(folder) / "older.cu"
    for path, value in ((older, 10), (mine, 20)):
        path.write_text(FILE.replace("2.0f * x[i]", f"{value}.0f * x[i]"))
    os.utime(older, (1e9, 1e9))
    first = run(COPY / "workbook", "play", mine).stdout
    older.rename(mine)
    second = run(COPY / "workbook", "play", mine).stdout
    expect("an older file in its place is another file", "out: 10 20 30 ..." in first
           and "out: 5 10 15 ..." in second, first + second)
