"""The skeletons in chapters/*/exercises are what `reset` makes of the solutions, byte for byte.

Both as they were committed last: what the reader has made of the files since is not looked at.
python3 tests/solutions/check_skeletons.py build/bin/workbook
"""

import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 4


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True)


def committed(path):
    """A file at HEAD; as it lies there when it is not committed yet."""
    shown = git("show", f"HEAD:{path}")
    return shown.stdout if shown.returncode == 0 else pathlib.Path(path).read_bytes()


def main():
    if git("rev-parse", "HEAD").returncode != 0:
        print("SKIPPED: this is no git checkout, so what was committed is not known")
        sys.exit(SKIPPED)
    specifications = sorted(pathlib.Path("solutions").glob("*/*.check.cu"))
    wrong = 0
    for specification in specifications:
        name = specification.name.removesuffix(".check.cu") + ".cuh"
        exercise = pathlib.Path("chapters", specification.parent.name, "exercises", name)
        with tempfile.NamedTemporaryFile() as solution:
            solution.write(committed(specification.with_name(name)))
            solution.flush()
            made = subprocess.run([sys.argv[1], "skeleton", solution.name], capture_output=True, check=True).stdout
        if made != committed(exercise):
            print(f"FAILED: {exercise} is not what ./workbook reset makes of the solution")
            wrong += 1
    print(f"{len(specifications)} exercises, {wrong} wrong")
    sys.exit(1 if wrong or not specifications else 0)


main()
