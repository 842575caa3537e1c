"""flake8 finds nothing in the Python files: in the exercises as they were committed last, in the others as
they are. .flake8 has its options. Exit status 4 where it is missing.
"""

import importlib.util
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

TOPS = ("chapters", "docs", "plots", "solutions", "tests")
EXERCISES = "chapters/*/exercises"  # readers may write them as they like


def main():
    if shutil.which("flake8"):
        flake8 = ["flake8"]
    elif importlib.util.find_spec("flake8"):
        flake8 = [sys.executable, "-m", "flake8"]
    else:
        skip("there is no flake8 (Debian: flake8)")
    files = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    done = run(*flake8, "--extend-exclude", EXERCISES, *TOPS, cwd=ROOT)
    clean = files and done.returncode == 0
    expect(f"nothing is found in {len(files)} Python files", clean, done.stdout + done.stderr)
    for path in run("git", "ls-files", f"{EXERCISES}/*.py", cwd=ROOT).stdout.splitlines():
        text = run("git", "show", f"HEAD:{path}", cwd=ROOT)
        if text.returncode == 0:
            done = run(*flake8, "--stdin-display-name", path, "-", input=text.stdout, cwd=ROOT)
            expect(f"nor in {path}, as committed", done.returncode == 0, done.stdout)


main()
