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
    specifications = sorted(ROOT.glob("solutions/*/*.check.*"))
    expect("there are exercises", specifications)
    for specification in specifications:
        suffix = {".cu": ".cuh", ".py": ".py"}[specification.suffix]
        chapter, name = specification.parent.name, specification.name.partition(".")[0] + suffix
        exercise = f"chapters/{chapter}/exercises/{name}"
        with tempfile.NamedTemporaryFile() as solution:
            solution.write(committed(f"solutions/{chapter}/{name}"))
            solution.flush()
            call = [WORKBOOK, "skeleton", solution.name]
            made = subprocess.run(call, capture_output=True, check=True).stdout
        expect(f"{exercise} is what ./workbook reset makes of the solution", made == committed(exercise))


main()
