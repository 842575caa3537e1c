"""A reader's session with ./workbook, with all that may go wrong in it, in a copy of the tree.

python3 tests/cli/check_reader.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise 01.1
is edited.
"""

import json
import os
import pathlib
import resource
import shutil
import signal
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
SHORT = {**os.environ, "WORKBOOK_MINUTES": "0.03"}  # for what never ends


def workbook(*arguments, folder=COPY, environment=None):
    done = run(COPY / "workbook", *arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
               timeout=1200)  # of the 1500 s that ctest grants; check --all compiles every grader
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


def with_host_code(text, code, *headers):
    """The file with `code` before its launch, on the host."""
    line = "  constexpr int kThreads = 256;\n"
    assert line in text
    once = "#pragma once\n"
    includes = "".join(f"#include <{header}>\n" for header in ("stdio.h", "stdlib.h", *headers))
    return text.replace(once, once + includes).replace(line, line + code)


def host_check(what, code, *texts, headers=(), environment=None):
    """Checks the skeleton with `code` before its launch, on the host."""
    FILE.write_text(with_host_code(SKELETON, code, *headers))
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
    """A file's content counts, not its age: a file that is copied or moved here keeps its time."""
    def put(text):
        FILE.write_text(text)
        os.utime(FILE, (10 ** 9, 10 ** 9))

    right = solution()
    FILE.write_text(right)
    call("a right file", ["check", "01.1"], SOLVED, "Solved.")
    put(SKELETON)
    call("an older one in its place", ["check", "01.1"], NOT_YET, "Not yet.")
    put(right)
    call("... and the right one again", ["check", "01.1"], SOLVED, "Solved.")


def standard_library():
    """A kernel file's host code may use these, although the compiler turns them into calls of a sanitizer."""
    right = solution()
    for what, code, *headers in (
            ("a static std::string", "  static std::string name(static_cast<size_t>(n), 'x');\n"
             "  if (name.empty()) return;\n", "string"),
            ("std::atomic", "  static std::atomic<int> calls{0};\n  int one = 1;\n  ++calls;\n"
             "  calls.compare_exchange_strong(one, 5);\n  if (calls.load() < 5) return;\n", "atomic"),
            ("std::atomic of 16 bytes", "  struct Pair {\n    long first, second;\n  };\n"
             "  static std::atomic<Pair> pair;\n  pair.store({n, 2});\n"
             "  if (pair.load().first != n) return;\n", "atomic"),
            ("std::thread", "  int done = 0;\n  std::thread other([&] { done = n; });\n  other.join();\n"
             "  if (done != n) return;\n", "thread"),
            ("std::make_shared", "  if (*std::make_shared<int>(n) != n) return;\n", "memory"),
            ("std::async and std::regex", "  if (std::async([&] { return n; }).get() != n) return;\n"
             "  if (std::regex_match(\"b\", std::regex(\"a+\"))) return;\n", "future", "regex")):
        FILE.write_text(with_host_code(right, code, *headers))
        call(f"{what} in host code", ["check", "01.1"], SOLVED, "Solved.")
    # The CPU device must not use this file's copies of these functions, because they are traced.
    uses = ("  std::string text(static_cast<size_t>(n), 'x');\n  text.append(\"y\").push_back('z');\n"
            "  std::vector<unsigned long> numbers;\n  std::vector<std::string> texts;\n"
            "  for (int i = 0; i < 99; ++i) {\n    numbers.push_back(text.size());\n"
            "    texts.push_back(text.substr(0, 20) + std::to_string(i));\n  }\n"
            "  if (numbers.back() + texts.back().size() == 0) return;\n")
    FILE.write_text(with_host_code(right.replace("if (i < n) ", ""), uses, "string", "vector"))
    call("strings and vectors in host code, and a finding", ["check", "01.1"], NOT_YET,
         "out of bounds: kernel fused", "look at: ")
    busy = ("  volatile bool done = false;\n  std::vector<int> many(1000);\n"
            "  std::thread other([&] {\n    while (!done)\n      for (int& one : many) ++one;\n  });\n"
            "  launch(fused, (n - 1) / kThreads + 1, kThreads, q, k, v, out, n);\n  done = true;\n"
            "  other.join();\n  return;\n")
    FILE.write_text(with_host_code(right, busy, "thread", "vector"))
    call("a thread that works while a kernel runs", ["check", "01.1"], SOLVED, "Solved.")


def kernel_disasters():
    product = "  if (i < n) out[i] = a[i] * b[i];\n"
    check("exit() in a kernel", "  if (i == 4) exit(0);\n" + product, NOT_YET,
          "N = 1: host function in a kernel: kernel multiply",
          "thread (4,0,0) of block (0,0,0) calls exit() at line 16")
    check("a division by zero in a kernel", "  if (i < n) out[i] = n / (i - 4);\n", NOT_YET,
          "N = 5: division by zero: kernel multiply", "thread (4,0,0) of block (0,0,0) divides", "at line 16")
    check("a static variable in a kernel", "  static int first = n;\n  if (i < first) out[i] = a[i];\n",
          NOT_YET, "host function in a kernel: kernel multiply", "uses an atomic of C++ at line 16")
    check("a launch in a kernel", "  if (i < n) launch(multiply, 1, 32, a, b, out, n);\n", NOT_YET,
          "host function in a kernel: kernel multiply", "launches a kernel at line 16")
    output = check("printf by a million threads", '  printf("thread %d\\n", i);\n' + product, NOT_YET,
                   "note: output cut off: kernel multiply", "wrong  N = 1 2", "999983",
                   "It printed: thread 0")
    expect("... is not stopped", "was stopped" not in output, output)


def one_line(done):
    """The output, without the line breaks that a long path leads to."""
    return " ".join((done.stdout + done.stderr).split())


def full_disk():
    """A state folder in which nothing can be written is not the reader's fault."""
    call("a solution", ["check", "01.1"], SOLVED)
    program = [COPY / "build/bin/workbook", "check", "01.1"]

    def small_files():  # enough for Ninja's log, too little for what a result may take
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60 << 10, 60 << 10))

    done = run(*program, preexec_fn=small_files)
    said = one_line(done)
    named = done.returncode == BROKEN and "cannot be written (File too large)" in said
    expect("a full disk is named", named and "ended itself" not in said, f"{done.returncode} {said}")
    STATE.rename(STATE.with_name("state before"))
    STATE.write_text("a file in its place")
    done = run(*program)
    said = one_line(done)
    named = done.returncode == BROKEN and "cannot be written (Not a directory)" in said
    expect("a state folder that is none is named", named and "ended itself" not in said,
           f"{done.returncode} {said}")
    STATE.unlink()
    STATE.with_name("state before").rename(STATE)


def disasters():
    host_check("exit(0)", "  exit(0);\n", "The program ended itself, at N = 1, with exit status 0",
               "1_fuse.cuh:25: host code calls exit()")
    host_check("exit(0) when nearly done", "  if (n > 9999) exit(0);\n", "ended itself, at N = 999983")
    host_check("_exit(0)", "  _Exit(0);\n", "The program ended itself")
    host_check("abort()", "  abort();\n", "crash in host code: multiply_add",
               "host code crashes (Aborted) at line 25", "1_fuse.cuh:25: host code calls abort()")
    host_check("a division by zero", "  if (n / atoi(\"0\")) return;\n",
               "It crashed, at N = 1: Floating point exception", "host code divides an integer by zero")
    host_check("a barrier", "  __syncthreads();\n", "kernel function on the host: multiply_add",
               "host code uses __syncthreads()", "at line 25")
    host_check("a wild pointer", "  *reinterpret_cast<volatile int*>(n) = 1;\n", "N = 1")
    host_check("an exception", "  throw n;\n",
               "N = 1: the host code throws something that is no std::exception")
    host_check("an exception whose text is no UTF-8", '  throw std::runtime_error("no \\xff text");\n',
               "N = 1: no \ufffd text", headers=["stdexcept"])
    host_check("much memory",
               "  for (;;) { char* volatile p = (char*)calloc(1 << 28, 1); if (!p) abort(); *p = 1; }\n",
               "N = 1")
    begin = time.monotonic()
    host_check("an infinite loop on the host", "  for (volatile int i = 0; i < 2;) i = 0;\n",
               "It was still running after 2 seconds, at N = 1, and was stopped", environment=SHORT)
    expect("... is stopped after its time", time.monotonic() - begin < 60, "")
    host_check("10 GB of output", "  for (long i = 0; i < 10000000000 / 50; ++i)\n"
               "    printf(\"%s\\n\", \"a line of fifty characters, more or less, as it is\");\n",
               "It was stopped after ", "KiB of output, at N = 1: does a loop print",
               "a line of fifty characters", "...")
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
    FILE.write_bytes(SKELETON.encode("utf-16"))
    output = call("a file in UTF-16", ["check", "01.1"], NOT_YET,
                  "1_fuse.cuh is not UTF-8 text (it begins with a UTF-16 byte order mark)",
                  "does not compile")
    expect("... in a sentence", "error:" not in output and len(output) < 500, output)
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
    FILE.with_suffix(".mine").write_text("mine\n")
    FILE.unlink()
    FILE.symlink_to("1_fuse.mine")
    call("a link", ["reset", "01.1"], SOLVED, "kept as", "was a link to 1_fuse.mine, which stays as it is")
    expect("... is replaced, not what it leads to",
           not FILE.is_symlink() and FILE.with_suffix(".mine").read_text() == "mine\n", FILE)
    FILE.with_suffix(".mine").unlink()


def streams_and_files():
    for name in ("a\x1b[31m.cu", "a\nb.cu"):
        said = call("a name that a terminal would obey", ["play", STATE / name], BAD_USAGE)
        expect("... in C's escape sequences", name not in said and repr(name)[1:-1] in said, said)
    played = STATE / "mine.cu"
    played.write_text("int main() { for (int i = 0; i < 9; ++i) __builtin_puts(\"x\"); }\n")
    run_01 = ["run", "01", "--size", "64", "--device", "cpu"]
    for command in (["list"], run_01, ["play", played], ["--version"], ["doctor"], ["hint", "01.1"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([COPY / "workbook", *command], stdin=subprocess.DEVNULL, stdout=writer)
        os.close(writer)
        ended = done.returncode == -signal.SIGPIPE
        expect(f"where nobody reads, SIGPIPE ends {command[0]}", ended, done.returncode)
    written = STATE / "written.json"
    right, refused = (SOLVED, "02_fused"), (BAD_USAGE, "stays")
    # None: what the last run has written
    for content, says in (("", right), (None, right), ("[1]", refused), ("int main() {}\n", refused)):
        if content is not None:
            written.write_text(content)
        for option in ("--json", "--trace"):
            call(f"{option} to {content!r}", [*run_01, option, written], *says)
        expect("... is left as it is", says == right or written.read_text() == content, content)


def broken():
    chapter = COPY / "chapters/05_linear_gelu/problem.cuh"
    good = chapter.read_text()
    chapter.write_text(good + "#error broken\n")
    call("another chapter runs beside a broken one", ["run", "00", "--device", "cpu", "--size", "1000"],
         SOLVED, "03_grid")
    output = call("... which does not", ["run", "05"], NOT_YET, "error: #error broken", "this failed")
    after = output[output.index("this failed"):]
    expect("... and is not being built after it has failed", "building" not in after, output)
    chapter.write_text(good)
    specification = COPY / "solutions/01_multiply_add/1_fuse/check.cu"
    text = specification.read_text()
    header = COPY / "common/judge/judge.cpp"
    good = header.read_text()
    header.write_text(good + "#error broken\n")
    call("a broken workbook is not the reader's fault", ["check", "01.1"], BROKEN, "#error broken")
    header.write_text(good)
    solutions = COPY / "solutions/01_multiply_add/1_fuse/solution.cuh"
    good = solutions.read_text()
    solutions.write_text(good.replace("// END SOLUTION", ""))
    call("a solution without its markers neither", ["reset", "01.1"], BROKEN, "lacks // END SOLUTION")
    solutions.write_text(good)
    expect("... and the reader's file stays", FILE.read_text() == SKELETON, text)


def new_files():
    chapter, exercise = COPY / "chapters/01_multiply_add", COPY / "solutions/01_multiply_add/6_fold"
    ladder, judged = (chapter / "chapter.cu").read_text(), chapter / "exercises/6_fold.cuh"
    call("a name that is no name", ["new", "stage", "two_each"], BAD_USAGE, "such as 01.two_each")
    call("a new stage", ["new", "stage", "01.two_each"], SOLVED, "chapters/01_multiply_add/07_two_each.cuh")
    call("... compiles, and has to be written", ["run", "01", "--device", "cpu", "--size", "1000"], NOT_YET,
         "07_two_each", "no kernel has written it")
    call("a new exercise", ["new", "exercise", "01.fold"], SOLVED,
         "solutions/01_multiply_add/6_fold/check.cu")
    call("... begins unsolved", ["check", "01.6"], NOT_YET, "out of bounds: kernel twice")
    shutil.copy(exercise / "solution.cuh", judged)
    call("... and its solution solves it", ["check", "01.6"], SOLVED, "Solved.")
    (chapter / "chapter.cu").write_text(ladder)
    (chapter / "07_two_each.cuh").unlink()
    judged.unlink()
    shutil.rmtree(exercise)


def main():
    begin()
    names()
    verdicts()
    old_files()
    standard_library()
    full_disk()
    kernel_disasters()
    disasters()
    solve()
    streams_and_files()
    broken()
    new_files()


try:
    main()
finally:
    FILE.write_text(SKELETON)
