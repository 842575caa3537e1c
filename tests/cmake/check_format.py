"""The code is formatted as .clang-format says: files as they are, but exercises as they were last committed.

Readers may format their exercises as they like.
Skeletons are made from the solutions: to format one, edit the comments between `// SKELETON` and
`// END SOLUTION` in its solution, and run ./workbook reset.
"""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

TOPS = ("chapters", "cli", "common", "cpu_device", "docs", "play", "solutions", "tests")
READERS = "exercises"
SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".cpp")
COLUMNS = 110
SKELETON = re.compile(r"// SKELETON\n.*?// END SOLUTION", re.S)
CHECK = ("clang-format", "--dry-run", "--Werror")


def main():
    if not shutil.which("clang-format"):
        skip("there is no clang-format")
    files = [path for top in TOPS for path in (ROOT / top).rglob("*") if path.suffix in SUFFIXES
             and READERS not in path.relative_to(ROOT).parts]
    checked = run(*CHECK, *files)
    expect(f"{len(files)} files are formatted", files and checked.returncode == 0, checked.stderr)

    # solutions/.clang-format leaves comments alone, because those of a skeleton may be three columns wider.
    wide = [f"{path}: {line}" for path in sorted((ROOT / "solutions").glob("*/*.cu*"))
            for line in SKELETON.sub("", path.read_text()).splitlines() if len(line) > COLUMNS]
    expect(f"solutions have lines of at most {COLUMNS} columns", not wide, "\n".join(wide))

    listed = run("git", "ls-tree", "-r", "--name-only", "HEAD", "chapters", cwd=ROOT)
    if listed.returncode != 0:
        skip("the exercises: this is no git checkout, so what was committed is not known")
    exercises = [path for path in listed.stdout.splitlines() if "/exercises/" in path and ".cu" in path]
    for path in exercises:
        text = run("git", "show", f"HEAD:{path}", cwd=ROOT).stdout
        checked = run(*CHECK, f"--assume-filename={path}", input=text, cwd=ROOT)
        expect(f"{path}, as committed, is formatted", checked.returncode == 0, checked.stderr)
    expect("there are exercises", exercises)


main()
