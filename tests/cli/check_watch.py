"""./workbook watch on a terminal: it checks at each save, takes its keys, and leaves the terminal as it was.

python3 tests/cli/check_watch.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise 01.1
is edited.
"""

import fcntl
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, run

COPY = fresh_copy()
FILE = COPY / "chapters/01_multiply_add/exercises/1_fuse.cuh"
ENDLESS = FILE.with_name("endless.fifo")  # nobody ever writes it: a compiler that includes it waits
SOLUTION = COPY / "solutions/01_multiply_add/1_fuse/solution.cuh"


class Terminal:
    """The watch at the far end of a terminal; `shown` is what it has printed since the last look."""

    def __init__(self, **environment):
        self.near, far = pty.openpty()
        self.before = termios.tcgetattr(far)
        self.far = far
        kind = {"TERM": "xterm", **{k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")}}
        self.watch = subprocess.Popen(
            [COPY / "workbook", "watch", "01.1"], stdin=far, stdout=far, stderr=far, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(far, termios.TIOCSCTTY, 0), env={**kind, **environment})
        self.shown = ""
        self.all = ""  # that it has ever printed

    def key(self, key):
        os.write(self.near, key.encode())

    def shows(self, what, *texts, seconds=120):
        """Waits until all the texts have been printed."""
        end = time.monotonic() + seconds
        while not all(text in self.shown for text in texts):
            left = end - time.monotonic()
            if left < 0 or self.watch.poll() is not None:
                expect(what, False, f"{texts} not shown within {seconds} s:\n{self.shown}")
            if select.select([self.near], [], [], min(left, 0.2))[0]:
                text = os.read(self.near, 65536).decode(errors="replace")
                self.shown += text
                self.all += text
        expect(what, True)
        self.shown = ""

    def is_as_it_was(self):
        return termios.tcgetattr(self.far) == self.before

    def is_stopped(self):
        stat = pathlib.Path(f"/proc/{self.watch.pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "T"

    def end(self, what, seconds=1):
        """Waits for the end of the watch, with nothing left of what it has started."""
        try:
            status = self.watch.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.watch.kill()
            expect(what, False, f"it has not ended within {seconds} s:\n{self.shown}")
        expect(what, status == 0 and self.is_as_it_was(),
               f"exit status {status}, or the terminal is not as it was")
        expect("... and nothing goes on compiling", not compiler_runs(), "")


def compiler_runs():
    """Whether a process works in the copy's build folder, as ninja's compilers do."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if pathlib.Path(os.readlink(process / "cwd")).is_relative_to(COPY / "build"):
                return True
        except OSError:
            continue  # it has ended, or belongs to another user
    return False


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            expect(what, False, f"not within {seconds} s")
        time.sleep(0.05)


def stops_and_goes_on():
    terminal = Terminal()
    terminal.shows("it begins once more", KEYS)
    terminal.key("\x1a")
    wait_until("Ctrl-Z stops it", terminal.is_stopped)
    expect("Ctrl-Z stops it, and the terminal is as it was", terminal.is_as_it_was())
    # At `fg`, the shell restores its own settings of the terminal and sends the program a signal.
    termios.tcsetattr(terminal.far, termios.TCSANOW, terminal.before)
    os.killpg(terminal.watch.pid, signal.SIGCONT)
    wait_until("fg goes on, and takes keys without Enter", lambda: not terminal.is_as_it_was())
    terminal.key("l")
    terminal.shows("fg goes on, and takes keys without Enter", "[ ] 02.1_fuse", KEYS)
    terminal.key("\x04")
    terminal.end("Ctrl-D ends it")


def leaves_while_it_compiles():
    for what, key in (("q", "q"), ("Ctrl-C", "\x03"), ("Ctrl-D", "\x04")):
        FILE.write_text(f'#include <{ENDLESS}>\n')
        terminal = Terminal()
        terminal.shows("it begins to check", "1_fuse.cuh")
        wait_until("the compiler runs", compiler_runs)
        terminal.key(key)
        terminal.end(f"{what} ends it while the compiler runs")


def another_holds_the_lock():
    FILE.write_text(skeleton)
    with open(COPY / "build/workbook.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        terminal = Terminal()
        terminal.shows("a lock that another terminal holds is named at once", "another ./workbook", seconds=5)
        fcntl.flock(lock, fcntl.LOCK_UN)
    terminal.shows("... and it goes on when that lets go", KEYS)
    with open(COPY / "build/workbook.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        FILE.write_text(skeleton + "\n")
        terminal.shows("also later, at a save", "another ./workbook", seconds=5)
        terminal.key("q")
        terminal.end("q ends it while it waits")


def plain_terminal():
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        terminal = Terminal(**{name: value})
        terminal.shows(f"{name}={value}", "Not yet.", KEYS)
        expect("... gives no escape sequences", "\033" not in terminal.all, repr(terminal.all))
        terminal.key("q")
        terminal.end("... and q ends it")


def without_terminal():
    done = run(COPY / "workbook", "watch", stdin=subprocess.DEVNULL)
    refused = done.returncode == 2 and "takes keys from a terminal" in done.stderr
    expect("without a terminal it says so", refused, f"exit status {done.returncode}:\n{done.stderr}")


KEYS = "checked again at each save"
without_terminal()
skeleton = FILE.read_text()
try:
    terminal = Terminal()
    terminal.shows("it checks at once", "01.1_fuse", "Not yet.", KEYS)
    terminal.key("h")
    terminal.shows("h shows a hint", "Hint ", KEYS)
    terminal.key("l")
    terminal.shows("l lists the exercises, and below them the one that is watched", "[ ] 01.1_fuse",
                   "Here:", KEYS)
    after = terminal.all.rpartition("[ ] ")[2]  # the last exercise of the list
    expect("... whose file is still in view", "1_fuse.cuh" in after and after.count("\n") < 12, after)
    FILE.write_text(skeleton + "int\n")
    terminal.shows("a save is checked: it does not compile", "error:", "It does not compile.", KEYS)
    FILE.unlink()
    terminal.shows("a deleted file is said to be missing", "The file is not there.", KEYS)
    beside = FILE.with_suffix(".new")  # as many editors save
    beside.write_text(SOLUTION.read_text())
    beside.replace(FILE)
    terminal.shows("a file that replaces it is checked: solved, and no other exercise begun", "Solved.",
                   "Next: ", KEYS)
    terminal.key("n")
    terminal.shows("n goes on", "exercises/", "Not yet.", KEYS)
    terminal.key("q")
    terminal.end("q ends it, and the terminal is as it was")

    terminal = Terminal()
    terminal.shows("it begins anew", KEYS)
    terminal.key("\x03")
    terminal.end("so does Ctrl-C")
    stops_and_goes_on()
    ENDLESS.unlink(missing_ok=True)
    os.mkfifo(ENDLESS)
    leaves_while_it_compiles()
    another_holds_the_lock()
    plain_terminal()
finally:
    ENDLESS.unlink(missing_ok=True)
    FILE.write_text(skeleton)
