"""A reader's session with ./workbook, with all that may go wrong in it, in a copy of the tree.

python3 tests/cli/check_reader.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise 01.1
is edited.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, missing, run

COPY = fresh_copy()
CHAPTER = COPY / "chapters/01_multiply_add"
FILE = CHAPTER / "exercises/1_fuse.cuh"
STATE = COPY / ".workbook"
SKELETON = FILE.read_text()
SOLVED, NOT_YET, BAD_USAGE, BROKEN = range(4)
SHORT = {**os.environ, "WORKBOOK_JUDGING_SECONDS": "2"}  # for what never ends


def workbook(*arguments, folder=COPY, environment=None):
    done = run(COPY / "workbook", *arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
               timeout=300)
    return done.returncode, done.stdout + done.stderr


def call(what, arguments, status, *texts, folder=COPY, environment=None):
    """Calls ./workbook, and expects that exit status and those texts."""
    found, output = workbook(*arguments, folder=folder, environment=environment)
    lacking = missing(texts, output)
    expect(what, found == status and not lacking, f"exit status {found}, missing {lacking}:\n{output}")
    # But for code, the compiler's words and the CPU device's, and a refusal, which is one line.
    others = "error: " in output or ": kernel " in output or arguments[:1] in (["solution"], ["diff"])
    if not others and status in (SOLVED, NOT_YET) and max(map(len, output.splitlines()), default=0) > 80:
        expect("... in 80 columns", False, output)
    return output


def check(what, kernel, status, *texts, environment=None):
    """Checks the skeleton with its kernel's one line replaced."""
    line = "  if (i < n) out[i] = a[i] * b[i];\n"
    assert line in SKELETON
    FILE.write_text(SKELETON.replace(line, kernel))
    return call(what, ["check", "01.1"], status, "chapters/01_multiply_add/exercises/1_fuse.cuh", *texts,
                environment=environment)


def host_check(what, code, *texts, environment=None):
    """Checks the skeleton with `code` before its launch, on the host."""
    line = "  constexpr int kThreads = 256;\n"
    assert line in SKELETON
    once = "#pragma once\n"
    FILE.write_text(SKELETON.replace(once, once + "#include <stdio.h>\n#include <stdlib.h>\n")
                    .replace(line, line + code))
    return call(what, ["check", "01.1"], NOT_YET, *texts, environment=environment)


def solution():
    return call("the solution is shown on request", ["solution", "01.1", "--reveal"], SOLVED,
                "q[i] * k[i] + v[i]")


def begin():
    shutil.rmtree(STATE, ignore_errors=True)
    call("the first call says what is next", [], SOLVED, "01_multiply_add", "Next: ", "./workbook run ",
         ".cuh")
    call("a check without a name checks the next one", ["check"], NOT_YET, "chapters/", ".cuh", "Not yet.")
    call("the list shows what is open", ["list"], SOLVED, "[ ] 01.1_fuse")
    call("the skeleton is not yet right", ["check", "01.1"], NOT_YET, "01.1_fuse",
         "wrong  N = 1 2 3 4 5 31 32 33 127", "out[0] is ", "expected ", "Not yet.", "./workbook hint 01.1")
    for number in (1, 2, 3):
        call(f"hint {number}", ["hint", "01.1"], SOLVED, f"Hint {number} of 3")
    call("there is no fourth hint", ["hint", "01.1"], SOLVED, "Hint 3 of 3", "That was the last one")
    call("all hints", ["hint", "01.1", "--all"], SOLVED, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3")
    for command in ("solution", "diff"):
        call(f"{command} asks first", [command, "01.1"], BAD_USAGE, "01.1_fuse is not solved yet", "--reveal")
    call("the difference", ["diff", "01.1", "--reveal"], SOLVED,
         "+  if (i < n) out[i] = q[i] * k[i] + v[i];", "-")


def names():
    for name in ("1", "1_fuse", "01.1", "exercises/1_fuse.cuh"):
        call(f"the name {name} in the chapter's folder", ["hint", name], SOLVED, "01.1_fuse", folder=CHAPTER)
    call("a wrong name", ["check", "01.1_fues"], BAD_USAGE, "01.1_fues", "the nearest: 01.1_fuse")


def verdicts():
    output = check("a compiler error is the compiler's alone", "  out[i] = product;\n", NOT_YET, "error: ",
                   "1_fuse.cuh:16:12: error: ", "does not compile")
    noise = [line for line in output.splitlines() if "ninja" in line or "FAILED" in line or "_reader" in line]
    expect("... without the build's noise", not noise, noise)
    check("<<<>>>, with advice", "  multiply<<<1, 32>>>(a, b, out, n);\n", NOT_YET, "error: ",
          "A kernel is started with launch(kernel, grid, block, arguments...)", "does not compile")
    check("a finding, in the device's words", "  out[i] = a[i] * b[i];\n", NOT_YET,
          "out of bounds: kernel multiply", "thread (1,0,0) of block (0,0,0)", "look at: ",
          "wrong  N = 1 2 3", "N = 256:\n  out[0] is ")
    check("an infinite loop in the kernel",
          "  for (int j = i; j < n; j += blockDim.x / 512) out[j] = a[j] * b[j];\n",
          NOT_YET, "infinite loop: kernel multiply", "at line 16")
    check("an infinite loop of which the compiler leaves nothing",
          "  for (int j = 0; j < 2;) out[i] = a[i];\n", NOT_YET,
          "It was still running after 2 seconds, at N = 1, and was stopped", "is there an infinite loop?",
          environment=SHORT)
    twice = "launch(fused, (n - 1) / kThreads + 1, kThreads, q, k, v, out, n);\n  launch("
    FILE.write_text(solution().replace("launch(", twice))
    call("the budget, and what more than it means", ["check", "01.1"], NOT_YET, "right  N = ", "launches",
         "launches 2 1 too many", "bytes read an element 24.0 12.0 too many", "is something read again?",
         "Not yet.")


def old_files():
    """What counts is a file's content, however old it is: one that is copied or moved here keeps its time."""
    def put(text):
        FILE.write_text(text)
        os.utime(FILE, (10 ** 9, 10 ** 9))

    right = solution()
    shutil.rmtree(COPY / "build/readers")  # as in a build that was made before there were stamps
    FILE.write_text(right)
    call("a right file", ["check", "01.1"], SOLVED, "Solved.")
    put(SKELETON)
    call("an older one in its place", ["check", "01.1"], NOT_YET, "Not yet.")
    put(right)
    call("... and the right one again", ["check", "01.1"], SOLVED, "Solved.")


def disasters():
    host_check("exit(0)", "  exit(0);\n", "The program ended itself, at N = 1, with exit status 0")
    host_check("exit(0) when nearly done", "  if (n > 9999) exit(0);\n", "ended itself, at N = 999983")
    host_check("_exit(0)", "  _Exit(0);\n", "The program ended itself")
    host_check("abort()", "  abort();\n", "It crashed, at N = 1: Aborted")
    host_check("a wild pointer", "  *reinterpret_cast<volatile int*>(n) = 1;\n", "N = 1")
    host_check("an exception", "  throw n;\n", "It crashed, at N = 1")
    host_check("much memory",
               "  for (;;) { char* volatile p = (char*)calloc(1 << 28, 1); if (!p) abort(); *p = 1; }\n",
               "It crashed, at N = 1")
    begin = time.monotonic()
    host_check("an infinite loop on the host", "  for (volatile int i = 0; i < 2;) i = 0;\n",
               "It was still running after 2 seconds, at N = 1, and was stopped", environment=SHORT)
    expect("... is stopped after its time", time.monotonic() - begin < 60, "")
    host_check("10 GB of output", "  for (long i = 0; i < 10000000000 / 50; ++i)\n"
               "    printf(\"%s\\n\", \"a line of fifty characters, more or less, as it is\");\n",
               "It did not stop printing, at N = 1, and was stopped", "a line of fifty characters", "...")
    host_check("a huge file", "  FILE* f = fopen(\"workbook-huge\", \"w\");\n"
               "  for (long i = 0; i < 10000000; ++i)\n"
               "    fputs(\"a line of fifty characters, more or less, as it is\", f);\n",
               "It crashed, at N = 1: File size limit exceeded")
    (COPY / "workbook-huge").unlink()
    host_check("a child that stays", "  if (n == 1 && !system(\"sleep 1000 & sleep 1000 &\")) return;\n",
               "wrong  N = 1")
    STATE.rename(STATE.with_suffix(".aside"))
    STATE.write_text("")
    FILE.write_text(SKELETON)
    output = call("a state that cannot be written", ["check", "01.1"], BROKEN, "cannot be written")
    expect("... is not the reader's fault", "exit" not in output, output)
    STATE.unlink()
    STATE.with_suffix(".aside").rename(STATE)
    FILE.unlink()
    call("a deleted file", ["check", "01.1"], NOT_YET, "The file is not there", "./workbook reset 01.1")
    call("... stops nothing else", ["list"], SOLVED, "01.1_fuse")
    (COPY / "build/build.ninja").unlink()
    call("... not even the configuration", ["check", "01.1"], NOT_YET, "The file is not there")
    call("... and comes again", ["reset", "01.1"], SOLVED, "as it was in the beginning")
    expect("... as it was", FILE.read_text() == SKELETON, FILE.read_text())


def solve():
    FILE.write_text("// mine\n" + solution())
    call("solved", ["check", "01.1"], SOLVED, "right  N = 1 2 3 4 5 31", "999983",
         "Solved. The product never left a register")
    call("the list knows", ["list"], SOLVED, "[x] 01.1_fuse")
    known = json.loads(call("the list for programs", ["list", "--json"], SOLVED))
    chapter = next(one for one in known if one["chapter"] == "01_multiply_add")
    first = chapter["exercises"][0]
    expect("... has the state", first["solved"] and first["hints"] == 0, known)
    call("now there is a difference to see", ["diff", "01.1"], SOLVED, "-// mine")

    (STATE / "state.json").write_text('{"schema": 1, "exercises"')
    call("a damaged state", ["list"], SOLVED, "is damaged; it is now state.json.damaged-1", "check --all",
         "[ ] 01.1")
    call("... is made again", ["check", "--all"], NOT_YET, "01.1_fuse", "solved")
    call("... by checking", ["list"], SOLVED, "[x] 01.1_fuse")

    call("a fresh start", ["reset", "01.1"], SOLVED, "kept as .workbook/kept/01_multiply_add/1_fuse.")
    kept = (STATE / "kept/01_multiply_add").iterdir()
    kept = [path for path in kept if path.read_text().startswith("// mine")]
    expect("... keeps what was there", len(kept) == 1 and FILE.read_text() == SKELETON, kept)
    call("... and is not solved", ["list"], SOLVED, "[ ] 01.1_fuse")


def broken():
    specification = COPY / "solutions/01_multiply_add/1_fuse.check.cu"
    text = specification.read_text()
    header = COPY / "common/harness/run_exercise.cpp"
    good = header.read_text()
    header.write_text(good + "#error broken\n")
    call("a broken workbook is not the reader's fault", ["check", "01.1"], BROKEN, "#error broken")
    header.write_text(good)
    solutions = COPY / "solutions/01_multiply_add/1_fuse.cuh"
    good = solutions.read_text()
    solutions.write_text(good.replace("// END SOLUTION", ""))
    call("a solution without its markers neither", ["reset", "01.1"], BROKEN, "lacks // END SOLUTION")
    solutions.write_text(good)
    expect("... and the reader's file stays", FILE.read_text() == SKELETON, text)


def main():
    begin()
    names()
    verdicts()
    old_files()
    disasters()
    solve()
    broken()


try:
    main()
finally:
    FILE.write_text(SKELETON)
