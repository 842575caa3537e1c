"""A build with a generator other than Ninja: programs run, and the grader builds with that generator's tool.

    python3 tests/cmake/check_generators.py "A FOLDER"
"""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, copy_tree, expect, run, skip

READER_FILE = "chapters/01_multiply_add/exercises/1_fuse.cuh"


def check(build, text, copy):
    """The verdict of `workbook check 01.1` on a file with this text."""
    (copy / READER_FILE).write_text(text)
    done = run(build / "bin/workbook", "check", "01.1")
    return done.returncode, done.stdout + done.stderr


def main():
    if not shutil.which("make"):
        skip("make was not found")
    copy = pathlib.Path(sys.argv[1]).resolve()
    copy_tree(copy)
    build = copy / "build"
    done = run("cmake", "--fresh", "-G", "Unix Makefiles", "-S", copy, "-B", build)
    expect("Unix Makefiles: it configures", done.returncode == 0, done.stdout + done.stderr)
    done = run("cmake", "--build", build, "--parallel", "2", "--target", "workbook", "01_multiply_add")
    expect("... builds the workbook and a chapter", done.returncode == 0, done.stdout + done.stderr)
    done = run(build / "bin/workbook", "run", "01", "--size", "1000", "--device", "cpu")
    ran = done.returncode == 0 and "2_fused" in done.stdout
    expect("... runs the chapter", ran, done.stdout + done.stderr)

    solution = (ROOT / "solutions/01_multiply_add/1_fuse.cuh").read_text()
    status, output = check(build, solution, copy)
    expect("... accepts a solution", status == 0 and "Solved." in output, output)
    status, output = check(build, solution.replace("if (i < n)", "if (i <= n)"), copy)
    expect("... rejects another file", status == 1 and f"({READER_FILE}:" in output, output)
    status, output = check(build, solution.replace("if (i < n)", "if (i < n"), copy)
    named = "does not compile" in output and f"{READER_FILE}:" in output
    expect("... and shows the compiler's errors, without a word of Make's",
           status == 1 and named and "make" not in output and "%]" not in output, output)


main()
