"""A signal that ends ./workbook also ends the compilers that it has started, which have a limit of memory.
After SIGKILL or a loss of power, the next command works.

python3 tests/cli/check_interrupts.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise
01.1 and a stage of its chapter are edited.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, run

COPY = fresh_copy()
CHAPTER = COPY / "chapters/01_multiply_add"
EXERCISE = CHAPTER / "exercises/1_fuse.cuh"
STAGE = CHAPTER / "01_unfused.cuh"
ENDLESS = CHAPTER / "endless.fifo"  # nobody ever writes it: a compiler that includes it waits
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def compilers():
    """The command lines of the processes that work in the copy's build folder, as ninja's compilers do."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if pathlib.Path(os.readlink(process / "cwd")).is_relative_to(COPY / "build"):
                found.append((process / "cmdline").read_text().replace("\0", " ")[:200])
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def compiles_endlessly():
    return any("cc1plus" in line or "clang" in line for line in compilers())


def interrupt(what, *arguments):
    """Starts ./workbook, sends it each signal while it compiles, and looks at what is left."""
    for number in SIGNALS:
        program = subprocess.Popen([COPY / "workbook", *arguments], start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait_until(compiles_endlessly, 300):
            program.kill()
            expect(f"{what} compiles", False, compilers())
        time.sleep(0.5)  # all that stands before the file that is waited for is compiled
        program.send_signal(number)
        begin = time.monotonic()
        status = program.wait(timeout=60)
        seconds = time.monotonic() - begin
        ended = status == -number and seconds < 5
        expect(f"{number.name} ends {what}", ended, f"exit status {status} after {seconds:.1f} s")
        expect("... and its compilers", wait_until(lambda: not compilers(), 2), "\n".join(compilers()))
        left = list((COPY / ".workbook").glob("result-*"))
        expect("... and leaves no folder of results", not left, left)


def kill_launcher():
    """Nothing of a launcher that was killed holds its caller's streams, or the lock of the next one."""
    for number in (signal.SIGKILL, signal.SIGQUIT):
        program = subprocess.Popen([COPY / "workbook", "run", "01"], start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        expect("the launcher compiles", wait_until(compiles_endlessly, 300), compilers())
        time.sleep(1.5)  # it shows how far it has come
        program.send_signal(number)
        begin = time.monotonic()
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
        for stream in (program.stdout, program.stderr):
            stream.read()  # until nobody holds it
        seconds = time.monotonic() - begin
        expect(f"{number.name} leaves nobody that holds its streams", seconds < 5, f"{seconds:.1f} s")
        program.wait()
        left = wait_until(lambda: not compilers(), 10)
        expect("... and ends its compilers, too", left, "\n".join(compilers()))


def check_damaged(name, content, *command):
    """A program of the build becomes `content`. The command works at once, or when it is given again."""
    program = COPY / "build/bin" / name
    program.write_bytes(content(program.read_bytes()))
    statuses = []
    for _ in range(2):
        done = run(COPY / "workbook", *command, timeout=600)
        statuses.append(done.returncode)
        if done.returncode != 3:
            break
        said = done.stdout + done.stderr
        expect("... it says so", f"{name} was damaged" in " ".join(said.split()), said)
    expect(f"{' '.join(command)}: a damaged {name} is linked again", statuses[-1] == 0 and done.stdout,
           (statuses, done.stdout + done.stderr))


DAMAGES = (lambda whole: b"", lambda whole: bytes(len(whole)), lambda whole: whole[:len(whole) // 2])


def including(file, name):
    return f"#include <{name}>\n{file}"  # in quotes, it would be refused at once


exercise, stage = EXERCISE.read_text(), STAGE.read_text()
try:
    ENDLESS.unlink(missing_ok=True)
    os.mkfifo(ENDLESS)
    EXERCISE.write_text(including(exercise, ENDLESS))
    interrupt("a check", "check", "01.1")
    STAGE.write_text(including(stage, ENDLESS))
    interrupt("the launcher", "run", "01")
    kill_launcher()
    STAGE.write_text(stage)
    done = run(COPY / "workbook", "run", "01", "--size", "1000", timeout=600)
    expect("... and the next command works", done.returncode == 0, done.stdout + done.stderr)
    for damage in DAMAGES:
        check_damaged("workbook", damage, "list")
        check_damaged("01_multiply_add", damage, "run", "01", "--size", "1000")

    EXERCISE.write_text(including(exercise, "/dev/zero"))
    begin = time.monotonic()
    done = run(COPY / "workbook", "check", "01.1", timeout=280)
    output = done.stdout + done.stderr
    said = "The compiler ran out of memory, and was stopped" in " ".join(output.split())
    expect("a file without end is a sentence", done.returncode == 1 and said, output[-4000:])
    seconds = time.monotonic() - begin
    expect("... and soon", seconds < 60, f"{seconds:.0f} s")
finally:
    ENDLESS.unlink(missing_ok=True)
    EXERCISE.write_text(exercise)
    STAGE.write_text(stage)
