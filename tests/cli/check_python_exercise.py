"""An exercise in Python, with ./workbook on a terminal and without: check, watch, list, diff, reset.

python3 tests/cli/check_python_exercise.py COPY: the copy that tests/cli/check_launcher.py has made; its
exercise 09.3 is edited. Exit status 4 where there is no Python with PyTorch.
"""

import os
import pathlib
import pty
import select
import subprocess
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "pytorch")]
from checks import expect, fresh_copy, missing, run
from package import torch_python

COPY = fresh_copy()
FILE = COPY / "chapters/09_pytorch/exercises/3_rewrite.py"
SOLVED, NOT_YET, BAD_USAGE, BROKEN = range(4)
KEYS = "checked again at each save"


def call(what, arguments, status, *texts, **environment):
    done = run(COPY / "workbook", *arguments, cwd=COPY, env={**os.environ, **environment}, timeout=300)
    output = done.stdout + done.stderr
    lacking = missing(texts, output)
    expect(what, done.returncode == status and not lacking,
           f"exit status {done.returncode}, missing {lacking}:\n{output}")
    return output


def without_pytorch():
    lacks = ("PyTorch 2.10 or newer", "WORKBOOK_TORCH")
    call("a Python without PyTorch is named", ["check", "09.3"], BROKEN, *lacks, WORKBOOK_TORCH="/usr")
    output = call("check --all says what it has not judged", ["check", "--all"], BROKEN, "09.3_rewrite",
                  "not judged: PyTorch is missing", *lacks, WORKBOOK_TORCH="/usr")
    expect("... and judges the others", "08.6_combine" in output, output)


def verdicts():
    solution = call("the solution is shown on request", ["solution", "09.3", "--reveal"], SOLVED, "def fuse")
    call("what the reader starts with is refused", ["check", "09.3"], NOT_YET, "Not yet.",
         "./workbook hint 09.3")
    FILE.write_text("def fuse(:\n")
    call("so is a file with a mistake", ["check", "09.3"], NOT_YET, "it is not Python: line 1")
    FILE.write_text("def fuse(graph_module):\n    while True:\n        pass\n")
    call("a loop without end is stopped", ["check", "09.3"], NOT_YET, "Still running after 3 s",
         "It was in line", WORKBOOK_MINUTES="0.05")
    FILE.write_text(solution)
    call("the solution is accepted", ["check", "09.3"], SOLVED, "Solved.", "./workbook diff 09.3")
    call("... and so it stands in the list", ["list"], SOLVED, "[x] 09.3_rewrite")
    call("diff has nothing to show", ["diff", "09.3"], SOLVED, "Your file is the solution")
    call("view is for kernels", ["view", "09.3"], BAD_USAGE, "09.3_rewrite is in Python")
    call("reset keeps the file", ["reset", "09.3"], SOLVED, ".workbook/kept/09_pytorch/3_rewrite.1.py")
    call("predict has no questions here", ["predict", "09"], BAD_USAGE, "docs/09_pytorch.md")


def watch():
    near, far = pty.openpty()
    watching = subprocess.Popen([COPY / "workbook", "watch", "09.3"], stdin=far, stdout=far, stderr=far,
                                cwd=COPY, start_new_session=True)
    try:
        shown = until(near, KEYS)
        expect("watch checks at once", "Not yet." in shown, shown)
        FILE.write_text((COPY / "solutions/09_pytorch/3_rewrite/solution.py").read_text())
        shown = until(near, KEYS)
        expect("... and again at each save", "Solved." in shown, shown)
        os.write(near, b"q")
        expect("q ends it", watching.wait(30) == SOLVED)
    finally:
        watching.kill()


def until(near, text, seconds=120):
    """Waits until the text is shown. Returns everything up to it."""
    end, shown = time.monotonic() + seconds, ""
    while text not in shown and time.monotonic() < end:
        if select.select([near], [], [], 0.2)[0]:
            shown += os.read(near, 65536).decode(errors="replace")
    return shown


def main():
    os.environ["WORKBOOK_TORCH"] = str(torch_python())
    call("the exercise is as it came", ["reset", "09.3"], SOLVED)
    without_pytorch()
    verdicts()
    watch()


main()
