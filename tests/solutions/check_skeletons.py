"""The skeletons in chapters/*/exercises are what `reset` makes of the solutions, byte for byte.

Both as they were committed last: what the reader has made of the files since is not looked at.
python3 tests/solutions/check_skeletons.py build/bin/workbook
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, skip

WORKBOOK = pathlib.Path(sys.argv[1]).resolve()


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True)


def committed(path):
    """A file at HEAD; as it is in the folder when it is not committed yet."""
    shown = git("show", f"HEAD:{path}")
    return shown.stdout if shown.returncode == 0 else (ROOT / path).read_bytes()


def main():
    if git("rev-parse", "HEAD").returncode != 0:
        skip("this is no git checkout, so what was committed is not known")
    solutions = sorted(ROOT.glob("solutions/*/*/solution.*"))
    expect("there are exercises", solutions)
    for path in solutions:
        chapter, name = path.parent.parent.name, path.parent.name
        exercise = f"chapters/{chapter}/exercises/{name}{path.suffix}"
        with tempfile.NamedTemporaryFile() as solution:
            solution.write(committed(path.relative_to(ROOT)))
            solution.flush()
            call = [WORKBOOK, "skeleton", solution.name]
            made = subprocess.run(call, capture_output=True, check=True).stdout
        expect(f"{exercise} is what ./workbook reset makes of the solution", made == committed(exercise))


main()
