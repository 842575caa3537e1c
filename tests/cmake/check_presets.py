"""The presets of CMakePresets.json, in a copy of the tree: configure, build, test, as README.md gives them.
Built and run is one of each kind: the workbook, a chapter, an exercise with its grader, a test of a program.

    python3 tests/cmake/check_presets.py "A FOLDER"
"""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import copy_tree, expect, run

TARGETS = ("workbook", "01_multiply_add", "versions_01_multiply_add_1_fuse")
TESTS = ("exercise 01_multiply_add/1_fuse: the grader", "completion: bash and zsh")


def main():
    copy = pathlib.Path(sys.argv[1]).resolve()
    copy_tree(copy)
    done = run("cmake", "--preset", "default", cwd=copy)
    output = done.stdout + done.stderr
    expect("it configures", done.returncode == 0, output)
    if shutil.which("nvcc"):
        expect("... and says that nvcc cannot compile there", "nvcc cannot compile in" in output, output)
    done = run("cmake", "--build", "--preset", "default", "--target", *TARGETS, cwd=copy)
    expect("it builds", done.returncode == 0, done.stdout + done.stderr)
    done = run(copy / "build/bin/01_multiply_add", "--device", "cpu", "--size", "1000")
    expect("a chapter runs", done.returncode == 0 and "02_fused" in done.stdout, done.stdout + done.stderr)
    named = "|".join(map(re.escape, TESTS))
    done = run("ctest", "--preset", "default", "--tests-regex", f"^({named})$", cwd=copy)
    output = done.stdout + done.stderr
    expect("the tests that need nothing else pass",
           done.returncode == 0 and f"0 tests failed out of {len(TESTS)}" in output, output)
    listed = run("ctest", "--preset", "default", "--show-only", cwd=copy).stdout
    expect("... and the preset leaves out the thorough ones", "layout: flake8" in listed
           and "check_presets" not in listed and "a reader's session" not in listed, listed)


main()
