"""A verdict is of the files that are there now, whatever their times say: content decides what is built.

python3 tests/cli/check_contents.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise
01.1, a stage of its chapter and its CMakeLists.txt are edited.
"""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, fresh_copy, run

COPY = fresh_copy()
CHAPTER = COPY / "chapters/01_multiply_add"
EXERCISE = CHAPTER / "exercises/1_fuse.cuh"
STAGE = CHAPTER / "02_fused.cuh"
SOLUTION = (ROOT / "solutions/01_multiply_add/1_fuse/solution.cuh").read_text()
LINE = "  if (i < n) out[i] = q[i] * k[i] + v[i];"
WRONG_LINE = LINE.replace("+ v", "- v")
assert LINE in SOLUTION
HOUR = 3600


def judged(what, *arguments, status, says, **environment):
    done = run(COPY / "workbook", *arguments, cwd=COPY, stdin=subprocess.DEVNULL, timeout=1200,
               env={**os.environ, **environment})
    found, output = done.returncode, done.stdout + done.stderr
    expect(what, found == status and says in " ".join(output.split()),
           f"exit status {found}, wanted {status} and {says}:\n{output}")
    return output


def is_solved(what):
    return judged(what, "check", "01.1", status=0, says="Solved.")


def is_wrong(what):
    return judged(what, "check", "01.1", status=1, says="Not yet.")


def put(path, text, age):
    """Writes a file as `cp -p` or `mv` does: with a time of its own, `age` seconds ago."""
    path.write_text(text)
    os.utime(path, (time.time() - age,) * 2)


def check_reader_file():
    put(EXERCISE, SOLUTION, 0)
    is_solved("the solution is solved")
    put(EXERCISE, SOLUTION.replace(LINE, WRONG_LINE), 2 * HOUR)
    is_wrong("a wrong file with an older time is judged as it is")
    put(EXERCISE, SOLUTION, 2 * HOUR)
    is_solved("... and so is the solution with that time")


def check_headers():
    header = EXERCISE.with_name("mine.inc")
    put(EXERCISE, SOLUTION.replace(LINE, '#include "mine.inc"'), 0)
    put(header, LINE + "\n", 0)
    is_solved("a file that includes another one is solved")
    put(header, WRONG_LINE + "\n", 3 * HOUR)
    is_wrong("a header with an older time is read again")
    put(header, LINE + "\n", 3 * HOUR)
    is_solved("... and again")
    before = header.stat()
    put(header, WRONG_LINE + "\n", 0)
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    is_wrong("a header of the same size and time is read again")
    header.unlink()
    put(EXERCISE, SOLUTION.replace('"device.hpp"', '"device.hpp"\n#include "pack.hpp"'), 0)
    is_solved("a file that includes one of the workbook's headers is solved")
    shadow = EXERCISE.with_name("pack.hpp")
    put(shadow, "#error this one is found first\n", 5 * HOUR)
    judged("a header that appears where it is found first counts", "check", "01.1", status=1,
           says="this one is found first")
    shadow.unlink()
    is_solved("... and not any more when it is gone")


def check_stage():
    text = STAGE.read_text()
    judged("a chapter runs", "run", "01", "--size", "1000", "--device", "cpu", status=0, says="02_fused")
    kept = STAGE.with_name("kept")
    STAGE.rename(kept)
    put(STAGE, text.replace("+ v[i];", "- v[i];"), 0)
    judged("a wrong stage is wrong", "run", "01", "--size", "1000", "--device", "cpu", status=1, says="WRONG")
    put(STAGE, text.replace("  launch", "  for (volatile int i = 0; i == i;) {}\n  launch", 1), 0)
    for command in (["run", "01", "--size", "1000", "--device", "cpu"], ["predict", "01"]):
        judged(f"{command[0]}: host code without end is stopped", *command, status=1, says="infinite loop?",
               WORKBOOK_MINUTES="0.05")
    kept.rename(STAGE)
    judged("a stage that is moved back is right", "run", "01", "--size", "1000", "--device", "cpu", status=0,
           says="02_fused")


def check_clock():
    put(EXERCISE, SOLUTION, 0)
    is_solved("the solution is solved")
    for path in (COPY / "build").rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() + 3 * HOUR,) * 2)
    put(EXERCISE, SOLUTION.replace(LINE, WRONG_LINE), 0)
    is_wrong("a wrong file is judged as it is after a build in the future")
    put(EXERCISE, SOLUTION, -HOUR)
    put(COPY / "CMakeLists.txt", (COPY / "CMakeLists.txt").read_text(), -HOUR)
    output = is_solved("the solution is solved with a time in the future")
    expect("... and a sentence says so", "time in the future" in output and "dirty" not in output, output)
    begin = time.monotonic()
    output = is_solved("... and nothing is left of that")
    expect("... in no time", time.monotonic() - begin < 20 and "future" not in output, output)


def check_play():
    folder = COPY / "played"
    shutil.rmtree(folder, ignore_errors=True)
    early, late = folder / "early", folder / "late"
    for each in (folder, early, late):
        each.mkdir()
    file, header = folder / "file.cu", folder / "number.h"
    put(file, '#include <cstdio>\n#include "number.h"\nint main() { printf("it is %d\\n", NUMBER); }\n', 0)
    put(header, "#define NUMBER 1\n", 0)
    judged("a program is played", "play", file, status=0, says="it is 1")
    put(header, "#define NUMBER 2\n", 2 * HOUR)
    judged("a header of it with an older time is read again", "play", file, status=0, says="it is 2")
    header.rename(late / "number.h")
    options = ("play", file, "-I", early, "-I", late)
    judged("a header is found in a folder", *options, status=0, says="it is 2")
    put(early / "number.h", "#define NUMBER 3\n", 2 * HOUR)
    judged("... and in an earlier one, when it appears there", *options, status=0, says="it is 3")


def check_nothing_is_built_again():
    """Nothing is built twice."""
    target = ["ninja", "-C", COPY / "build", "check_01_multiply_add_1_fuse"]
    put(EXERCISE, SOLUTION.replace("#pragma once", '#pragma once\n#include "pack.hpp"'), 0)
    is_solved("a file that includes a header for the first time is solved")
    done = run(*target)
    expect("... and nothing is left to build", "Building" not in done.stdout, done.stdout)


def check_costs():
    """The comparison takes at most 50 ms of processor time."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(COPY / "build/build_inputs", COPY / "build", check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    expect("comparing takes at most 50 ms", min(times) <= 0.05, times)


def main():
    skeleton = EXERCISE.read_text()
    check_reader_file()
    check_headers()
    check_stage()
    check_play()
    check_nothing_is_built_again()
    check_costs()
    check_clock()
    put(EXERCISE, skeleton, 0)


main()
