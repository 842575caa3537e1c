"""The code is laid out as .clang-format says. A reader's exercises may look as the reader likes."""

import pathlib
import shutil
import subprocess
import sys

SKIPPED = 4

if not shutil.which("clang-format"):
    print("SKIPPED: there is no clang-format")
    sys.exit(SKIPPED)
tops = ("chapters", "cli", "common", "docs", "solutions", "tests")
files = [p for top in tops for p in pathlib.Path(top).rglob("*") if p.suffix in {".cu", ".cuh", ".hpp", ".cpp"}]
files = [p for p in files if "exercises" not in p.parts]
sys.exit(subprocess.run(["clang-format", "--dry-run", "--Werror", *files]).returncode)
