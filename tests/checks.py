"""Shared by the tests written in Python: where the tree is, running a program, saying what is right or wrong.

A test in a subfolder finds this module with

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from checks import ROOT, expect
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 4  # the exit status that tests/CMakeLists.txt names
# No verdict may depend on how busy the machine is.
os.environ.setdefault("WORKBOOK_MINUTES", "5")


def expect(what, condition, details=""):
    """Says that `what` is true, or ends the test and shows the details."""
    if not condition:
        sys.exit(f"FAILED: {what}\n{details}")
    print("ok:", what, flush=True)


def skip(reason):
    """Ends the test: this machine lacks what it needs."""
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def run(*command, **options):
    """Runs a program and captures its output as text."""
    return subprocess.run(command, capture_output=True, text=True, **options)


def expect_refused(what, script, arguments, status, *texts, **options):
    """Expects that a Python script ends with this status and says one of the texts."""
    done = run(sys.executable, script, *arguments, **options)
    expect(what, done.returncode == status and any(text in done.stderr for text in texts),
           f"exit status {done.returncode}, wanted {status} and {' or '.join(texts)}:\n{done.stderr}")


def missing(texts, output):
    """Those of the texts that the output does not have; it may break lines and align columns as it likes."""
    in_one_line = " ".join(output.split())
    return [text for text in texts if text not in output and text not in in_one_line]


def quoted_output(lesson):
    """The output of its chapter's program on the CPU device that the text of a lesson quotes."""
    return re.search(r"^<!-- output: \w+ --device cpu.*? -->\n\n```text\n(.*?)^```", lesson, re.S | re.M)[1]


def copy_tree(target):
    """Makes the folder `target` a copy of the tree as it is now, without what is built or ignored."""
    shutil.rmtree(target, ignore_errors=True)
    files = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    if files.returncode != 0:
        skip("this is no git checkout, so a fresh copy of it cannot be made")
    for name in filter(None, files.stdout.split("\0")):
        if not (ROOT / name).exists():
            continue
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
        copy.chmod((ROOT / name).stat().st_mode)


def fresh_copy():
    """The copy of the tree that tests/cli/check_launcher.py has made: the argument of the tests in it."""
    copy = pathlib.Path(sys.argv[1]).resolve()
    if not (copy / "workbook").exists():
        skip("there is no copy of the tree")
    return copy
