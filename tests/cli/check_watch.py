"""./workbook watch on a terminal: it checks at each save, takes its keys, and leaves the terminal as it was.

python3 tests/cli/check_watch.py COPY: the copy that tests/cli/check_launcher.py has made; its exercise 01.1
is edited.
"""

import fcntl
import os
import pathlib
import pty
import select
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, fresh_copy, run

COPY = fresh_copy()
FILE = COPY / "chapters/01_multiply_add/exercises/1_fuse.cuh"
SOLUTION = COPY / "solutions/01_multiply_add/1_fuse.cuh"


class Terminal:
    """The watch at the far end of a terminal; `shown` is what it has printed since the last look."""

    def __init__(self):
        self.near, far = pty.openpty()
        self.before = termios.tcgetattr(far)
        self.far = far
        self.watch = subprocess.Popen(
            [COPY / "workbook", "watch", "01.1"], stdin=far, stdout=far, stderr=far, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(far, termios.TIOCSCTTY, 0))
        self.shown = ""

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
                self.shown += os.read(self.near, 65536).decode(errors="replace")
        expect(what, True)
        self.shown = ""

    def end(self, what):
        status = self.watch.wait(timeout=10)
        expect(what, status == 0 and termios.tcgetattr(self.far) == self.before,
               f"exit status {status}, or the terminal is not as it was")


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
    terminal.shows("l lists the exercises", "[ ] 01.1_fuse", KEYS)
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
finally:
    FILE.write_text(skeleton)
