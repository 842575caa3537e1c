"""flake8 finds nothing in the Python files; .flake8 has its options. Exit status 4 where it is missing."""

import importlib.util
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

TOPS = ("chapters", "docs", "plots", "tests")


def main():
    if shutil.which("flake8"):
        flake8 = ["flake8"]
    elif importlib.util.find_spec("flake8"):
        flake8 = [sys.executable, "-m", "flake8"]
    else:
        skip("there is no flake8 (Debian: flake8)")
    files = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    done = run(*flake8, *TOPS, cwd=ROOT)
    clean = files and done.returncode == 0
    expect(f"nothing is found in {len(files)} Python files", clean, done.stdout + done.stderr)


main()
