"""The code is formatted as .clang-format says: as it lies there, but exercises as they were committed last.

What a reader makes of an exercise may look as the reader likes. Skeletons are made from the solutions: one that is badly
formatted is put right in the comments behind `// SKELETON` of its solution.
"""

import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

TOPS = ("chapters", "cli", "common", "docs", "solutions", "tests")
COLUMNS = 110
SKELETON = re.compile(r"// SKELETON\n.*?// END SOLUTION", re.S)
CHECK = ("clang-format", "--dry-run", "--Werror")


def main():
    if not shutil.which("clang-format"):
        skip("there is no clang-format")
    files = [path for top in TOPS for path in (ROOT / top).rglob("*")
             if path.suffix in {".cu", ".cuh", ".hpp", ".cpp"} and "exercises" not in path.parts]
    checked = run(*CHECK, *files)
    expect(f"{len(files)} files are formatted", files and checked.returncode == 0, checked.stderr)

    # clang-format leaves comments in solutions alone, for those of a skeleton are up to three columns wider.
    wide = [f"{path}: {line}" for path in sorted((ROOT / "solutions").glob("*/*.cu*"))
            for line in SKELETON.sub("", path.read_text()).splitlines() if len(line) > COLUMNS]
    expect(f"solutions have lines of at most {COLUMNS} columns", not wide, "\n".join(wide))

    listed = run("git", "ls-tree", "-r", "--name-only", "HEAD", "chapters", cwd=ROOT)
    if listed.returncode != 0:
        skip("the exercises: this is no git checkout, so what was committed is not known")
    exercises = [path for path in listed.stdout.splitlines() if "/exercises/" in path]
    for path in exercises:
        text = run("git", "show", f"HEAD:{path}", cwd=ROOT).stdout
        checked = run(*CHECK, f"--assume-filename={path}", input=text, cwd=ROOT)
        expect(f"{path}, as committed, is formatted", checked.returncode == 0, checked.stderr)
    expect("there are exercises", exercises)


main()
