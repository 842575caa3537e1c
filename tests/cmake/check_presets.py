"""The presets of CMakePresets.json, in a copy of the tree: configure, build, test, as README.md gives them.

    python3 tests/cmake/check_presets.py "A FOLDER" [TARGET]

With TARGET it builds only that and runs no tests: a quick look at whether a path with odd characters works.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, copy_tree, expect, run


def main():
    copy = pathlib.Path(sys.argv[1]).resolve()
    target = sys.argv[2:]
    copy_tree(copy)
    # Some tests compare files with the last commit, or look for a commit in the history.
    with tempfile.TemporaryDirectory() as temporary:
        subprocess.run(["git", "clone", "-q", "--no-checkout", ROOT, temporary], check=True)
        shutil.move(pathlib.Path(temporary) / ".git", copy / ".git")
    identity = ["-c", "user.name=check_presets", "-c", "user.email=none"]
    for command in (["add", "-A"], [*identity, "commit", "-q", "--allow-empty", "-m", "The tree as it is"]):
        subprocess.run(["git", *command], cwd=copy, check=True)

    done = run("cmake", "--preset", "default", cwd=copy)
    output = done.stdout + done.stderr
    expect("it configures", done.returncode == 0, output)
    if shutil.which("nvcc"):
        expect("... and says that nvcc cannot compile there", "nvcc cannot compile in" in output, output)
    chosen = ["--target", *target] if target else []
    done = run("cmake", "--build", "--preset", "default", *chosen, cwd=copy)
    expect(f"it builds {' '.join(target) or 'everything'}", done.returncode == 0, done.stdout + done.stderr)
    if target:
        return
    done = run("ctest", "--preset", "default", "--parallel", str(os.cpu_count()), cwd=copy)
    output = done.stdout + done.stderr
    expect("the tests pass", done.returncode == 0, output)
    expect("... and all were built", "100% tests passed" in output and "NOT_BUILT" not in output, output)


main()
