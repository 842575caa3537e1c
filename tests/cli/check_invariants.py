"""What CONTRIBUTING promises of every command, tried with files and environments that nobody expects.

python3 tests/cli/check_invariants.py COPY files|environments [--tries 300] [--seed 84] [--only N]

COPY is the copy of the tree that tests/cli/check_launcher.py has made. Each try is made of its seed and its
number alone. `files` changes one file that a command reads: its kind, time, content, size, or what it links
to. `environments` changes what a command finds around it: limits, variables, streams; all files are right
then, so that nothing may be called wrong.
"""

import argparse
import fcntl
import json
import os
import pathlib
import random
import re
import resource
import shutil
import stat
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

LIMIT = 240  # seconds for one command; a compiler takes most of them, on a busy machine
RIGHT, WRONG = "  if (i < n) out[i] = q[i] * k[i] + v[i];", "  if (i < n) out[i] = q[i] * k[i] - v[i];"
SOLUTION = (ROOT / "solutions/01_multiply_add/1_fuse/solution.cuh").read_text()
STAGE = (ROOT / "chapters/01_multiply_add/02_fused.cuh").read_text()
STAGE_LINE = next(line for line in STAGE.splitlines() if "+ v[i];" in line)
PROGRAM = '#include <cstdio>\n#include "number.h"\nint main() { printf("it is %d\\n", NUMBER); }\n'
HOUR = 3600
assert RIGHT in SOLUTION


class Place:
    """The copy: the files that are tried, each with contents that are right and wrong."""

    def __init__(self, root):
        self.root, self.state = root, root / ".workbook"
        chapter = root / "chapters/01_multiply_add"
        self.exercise, self.header = chapter / "exercises/1_fuse.cuh", chapter / "exercises/mine.inc"
        self.stage = chapter / "02_fused.cuh"
        self.program, self.number = root / "tried/program.cu", root / "tried/number.h"
        self.hints = root / "solutions/01_multiply_add/1_fuse/hints.md"
        self.predictions, self.standings = self.state / "predictions.json", self.state / "state.json"
        wrong_stage = STAGE.replace(STAGE_LINE, STAGE_LINE.replace("+ v[i];", "- v[i];"))
        solved = {"schema": 1, "exercises": {"01_multiply_add/1_fuse": {"solved": True, "hints": 1}}}
        answers = {"schema": 1, "answers": {"01_multiply_add": {"01_unfused read": "16"}}}
        self.contents = {  # the first is what is there otherwise
            self.exercise: [SOLUTION, SOLUTION.replace(RIGHT, WRONG),
                            SOLUTION.replace(RIGHT, '#include "mine.inc"')],
            self.header: [RIGHT + "\n", WRONG + "\n"],
            self.stage: [STAGE, wrong_stage],
            self.program: [PROGRAM],
            self.number: ["#define NUMBER 1\n", "#define NUMBER 2\n"],
            self.hints: [self.hints.read_text()],
            self.predictions: [json.dumps(answers), "{", json.dumps({"schema": 99, "answers": {}})],
            self.standings: [json.dumps(solved), "[]", json.dumps({"schema": 99, "exercises": {}})],
        }

    def restore(self, only=None):
        for file in [only] if only else self.contents:
            remove(file)
            file.parent.mkdir(exist_ok=True)
            file.write_text(self.contents[file][0])

    def text(self, file):
        """The text that a compiler finds there; nothing where that is no file that it can read."""
        try:
            is_read = file.is_file() and file.stat().st_size < 1 << 20
            return file.read_text(errors="replace") if is_read else None
        except OSError:
            return None

    def is_right(self, exercise):
        text = self.text(self.exercise if exercise else self.stage) or ""
        if not exercise:
            return text == STAGE
        return RIGHT in text or ("mine.inc" in text and RIGHT in (self.text(self.header) or ""))

    def snapshot(self):
        """Each file as it is: its kind and content, of a link its target."""
        found = {}
        for file in self.contents:
            kind = stat.S_IFMT(file.lstat().st_mode) if os.path.lexists(file) else None
            content = self.text(file) if kind == stat.S_IFREG else None
            found[file] = (kind, os.readlink(file) if kind == stat.S_IFLNK else content)
        return found


def remove(file):
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)


# --- Files ---

def change_file(place, file, chosen):
    """Makes a file something else, and says what. Returns whether a command may then find it damaged."""
    text = chosen.choice(place.contents[file])
    kinds = ["pipe", "zero", "full", "folder", "dangling", "link", "loop", "large", "empty", "gone", "bytes"]
    kind = chosen.choice(["file"] * 6 + kinds)
    kept = file.with_name("kept.copy")
    remove(kept)
    if kind == "file" and chosen.random() < 0.5:  # as mv and cp -p do: another file with its own time
        kept.write_text(text)
        os.utime(kept, (time.time() + chosen.choice([-9, -3, 0, 3]) * HOUR,) * 2)
        kept.replace(file)
        return "another file with a time of its own"
    if kind == "file":
        before = file.stat()
        file.write_text(text)
        if chosen.random() < 0.5:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return "other content"
    remove(file)
    if kind == "pipe":
        os.mkfifo(file)
    elif kind in ("zero", "full"):
        file.symlink_to(f"/dev/{kind}")
    elif kind == "folder":
        file.mkdir()
    elif kind == "dangling":
        file.symlink_to("nowhere")
    elif kind == "loop":
        file.symlink_to(file.name)
    elif kind == "link":
        kept.write_text(text)
        file.symlink_to(kept.name)
    elif kind == "large":
        with open(file, "w") as large:
            large.truncate(17 << 20)
    elif kind == "empty":
        file.write_text("")
    elif kind == "bytes":
        file.write_bytes(bytes(chosen.randrange(256) for _ in range(100)))
    return kind


def commands(place):
    """Commands, and the files that each of them may change."""
    own = [place.exercise, place.standings]
    return [
        (["check", "01.1"], own), (["check", "01.1"], own), (["check", "01.1"], own),
        (["run", "01", "--size", "1000", "--device", "cpu"], []),
        (["play", str(place.program)], []), (["play", str(place.program)], []),
        (["view", "01.1", "--lines"], []), (["list"], []), ([], []), (["predict", "01"], [place.predictions]),
        (["hint", "01.1"], [place.standings]), (["diff", "01.1", "--reveal"], []),
        (["solution", "01.1", "--reveal"], []), (["reset", "01.1"], own),
    ]


def try_files(place, chosen):
    if chosen.random() < 0.4:
        place.restore()
    file = chosen.choice(list(place.contents))
    how = change_file(place, file, chosen)
    command, may_change = chosen.choice(commands(place))
    if file == place.stage and chosen.random() < 0.7:
        command = ["run", "01", "--size", "1000", "--device", "cpu"]
    if file in (place.number, place.program) and chosen.random() < 0.7:
        command = ["play", str(place.program)]
    before = place.snapshot()
    status, output = run_in(place, command, lambda: None, dict(os.environ), {})
    what = f"{file.name}: {how}; {' '.join(command)}"
    judge(place, what, command, status, output, before, may_change)
    if how not in ("another file with a time of its own", "other content"):
        place.restore(file)
    return what, status


# --- Environments ---

LIMITS = {  # what of the shell's ulimit, and values
    "RLIMIT_NOFILE": [20, 40], "RLIMIT_STACK": [100 << 10, 500 << 10], "RLIMIT_FSIZE": [1, 512, 1 << 20],
    "RLIMIT_AS": [50 << 20, 300 << 20, 2 << 30], "RLIMIT_CPU": [1, 2], "RLIMIT_DATA": [30 << 20, 400 << 20],
}
VARIABLES = {
    "HOME": [None, "", "/nonexistent"], "PATH": [None, "", "/nonexistent", "/usr/bin", "/bin:/nonexistent"],
    "TMPDIR": ["/nonexistent", "/dev/null"], "WORKBOOK_MINUTES": ["x", "", "-1", "0", "nan", "1e99"],
    "WORKBOOK_STEPS": ["x", "", "0", "-5", "1e30"], "WORKBOOK_CORES": ["x", "-1", "", "99999999999"],
    "TERM": [None, "", "nonsense"], "LC_ALL": ["de_DE.UTF-8", "nonsense"], "CCACHE_DISABLE": ["1"],
    "CCACHE_DIR": ["/dev/null", "/proc/nothing"], "XDG_CACHE_HOME": ["/dev/null", "relative"],
    "COLUMNS": ["1", "x"], "LD_PRELOAD": ["/nonexistent.so"], "NINJA_STATUS": ["%x", ""], "CXX": ["nonsense"],
    "MAKEFLAGS": ["-j"], "SHELL": ["/nonexistent"], "TZ": ["nonsense"], "WORKBOOK_NO_INSTALL": ["1"],
}
STREAMS = [None, None, None, "closed", "/dev/full", "pipe without a reader"]


def limited(chosen):
    name = chosen.choice(list(LIMITS))
    value = chosen.choice(LIMITS[name])
    number = getattr(resource, name)
    return f"{name} {value}", lambda: resource.setrlimit(number, (value, value))


def try_environments(place, chosen):
    place.restore()
    environment, streams, said, limit = dict(os.environ), {}, [], lambda: None
    if chosen.random() < 0.5:
        name, limit = limited(chosen)
        said.append(name)
    for name in chosen.sample(list(VARIABLES), chosen.randrange(3)):
        value = chosen.choice(VARIABLES[name])
        said.append(f"{name}={value}")
        environment.pop(name, None) if value is None else environment.__setitem__(name, value)
    for number in (0, 1, 2):
        streams[number] = chosen.choice(STREAMS)
        if streams[number]:
            said.append(f"{number} {streams[number]}")
    if chosen.random() < 0.5:  # something is built
        place.number.write_text(f"#define NUMBER {chosen.randrange(1, 4)}\n")
        place.exercise.write_text(SOLUTION + f"// {chosen.randrange(3)}\n")
    command, may_change = chosen.choice(commands(place)[:-1])  # not reset, which unsolves
    before = place.snapshot()
    status, output = run_in(place, command, limit, environment, streams)
    what = f"{', '.join(said)}; {' '.join(command)}"
    judge(place, what, command, status, output, before, may_change)
    expect_quietly(f"{what}: nothing is wrong", status != 1, output)
    solved = json.loads(place.standings.read_text())["exercises"]["01_multiply_add/1_fuse"]["solved"]
    expect_quietly(f"{what}: what is solved stays so", solved, output)
    return what, status


# --- Both ---

def run_in(place, command, limit, environment, streams):
    """Runs ./workbook COMMAND. Returns its status, that of a signal negative, and its output."""
    def prepare():
        for number, stream in streams.items():
            if stream == "closed":
                os.close(number)
            elif stream == "pipe without a reader":
                reader, writer = os.pipe()
                os.close(reader)
                os.dup2(writer, number)
            elif stream:
                os.dup2(os.open(stream, os.O_RDWR), number)
        limit()

    program = subprocess.Popen(["/bin/sh", place.root / "workbook", *command], cwd=place.root,
                               env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, preexec_fn=prepare)
    try:
        output, _ = program.communicate(timeout=LIMIT)  # until nobody holds its streams
    except subprocess.TimeoutExpired:
        program.kill()
        expect(f"{command} ends", False, program.stdout.read().decode(errors="replace"))
    return program.returncode, output.decode(errors="replace")


def expect_quietly(what, condition, details):
    if not condition:
        expect(what, False, details)


def processes_of(place):
    """The processes that work in the copy, or on it."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if int(process.name) != os.getpid() and "check_invariants" not in line and (
                    str(place.root) in line or os.readlink(process / "cwd").startswith(str(place.root))):
                found.append(line[:200])
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def is_free(lock):
    if not lock.exists():
        return True
    with open(lock, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def judge(place, what, command, status, output, before, may_change):
    ended_by_limit = status in (-9, -13, -24, -25) and what.startswith(("RLIMIT_CPU", "RLIMIT_FSIZE")) or (
        status in (-13, 141) and "pipe without a reader" in what)  # 141: the shell says so of a program
    expect_quietly(f"{what}: status {status} is one of 0 to 3",
                   status in (0, 1, 2, 3) or ended_by_limit, output)
    for word in ("terminate called", "Traceback", "parameter not set", "Segmentation fault", "core dumped"):
        expect_quietly(f"{what}: no words of a crash", word not in output, output)
    end = time.monotonic() + 5
    while processes_of(place) and time.monotonic() < end:
        time.sleep(0.05)
    expect_quietly(f"{what}: no process is left", not processes_of(place), "\n".join(processes_of(place)))
    for lock in (place.root / "build/workbook.lock", place.state / "lock"):
        expect_quietly(f"{what}: {lock.name} is free", is_free(lock), output)
    after = place.snapshot()
    changed = [file.name for file in before if before[file] != after[file] and file not in may_change]
    damaged = [name for name in changed if name.endswith(".json") and f"{name} is damaged" in output]
    expect_quietly(f"{what}: no other file changes", changed == damaged, f"{changed}\n{output}")
    # A check does not change the exercise, and no verdict is of what was there before.
    if command[:1] == ["check"]:
        expect_quietly(f"{what}: the exercise stays", before[place.exercise] == after[place.exercise], output)
        right = place.is_right(exercise=True)
        expect_quietly(f"{what}: the verdict is of what is there (right: {right})",
                       status == 3 or status < 0 or (status == 0) == right, output)
    if command[:1] == ["run"]:
        right = place.is_right(exercise=False)
        expect_quietly(f"{what}: the result is of what is there (right: {right})",
                       status == 3 or status < 0 or (status == 0) == right, output)
    said = re.findall(r"^it is (\d+)$", output, re.M)
    number = (place.text(place.number) or "").split()[-1:]
    expect_quietly(f"{what}: the program is what is there", not said or said == number, output)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("copy", type=pathlib.Path)
    parser.add_argument("kind", choices=("files", "environments"))
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=84)
    parser.add_argument("--only", type=int, help="the number of one try")
    parser.add_argument("--show", action="store_true", help="print each try")
    arguments = parser.parse_args()
    place = Place(arguments.copy.resolve())
    place.restore()
    statuses = {}
    try:
        for number in [arguments.only] if arguments.only is not None else range(arguments.tries):
            chosen = random.Random(f"{arguments.seed} {number}")
            begin = time.monotonic()
            tried = try_files if arguments.kind == "files" else try_environments
            what, status = tried(place, chosen)
            statuses[status] = statuses.get(status, 0) + 1
            if arguments.show:
                print(f"{number}: {status}, {time.monotonic() - begin:.1f} s: {what}", flush=True)
    finally:
        place.restore()
    print(f"ok: {sum(statuses.values())} tries, by status: {dict(sorted(statuses.items()))}")


main()
