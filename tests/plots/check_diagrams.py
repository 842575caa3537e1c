"""The pictures of the lessons: as plots/diagrams.py draws them, readable, each in a page with a text.

    python3 tests/plots/check_diagrams.py build/bin
"""

import pathlib
import re
import sys
import tempfile
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
COMMITTED = ROOT / "plots" / "diagrams"
SVG = "{http://www.w3.org/2000/svg}"
WIDTH, SMALLEST_TEXT, FEWEST_LETTERS = 400, 9, 100

# Runs the program beside it with the same arguments, then lets one more lane through the guard in its trace.
LOOSE_GUARD = """#!/usr/bin/env python3
import json, subprocess, sys
subprocess.run([PROGRAM, *sys.argv[1:]], check=True)
file = sys.argv[sys.argv.index("--trace") + 1]
trace = json.load(open(file))
for request in trace["stages"][0]["launches"][0]["requests"]:
    request["offsets"][-1] = 4 * 31
json.dump(trace, open(file, "w"))
"""


def draw(out, programs=PROGRAMS):
    return run(sys.executable, ROOT / "plots" / "diagrams.py", "--programs", programs, "--out", out)


def differences(drawn, committed):
    """The names of pictures that are not the same in two folders, or in one of them alone."""
    names = {path.name for folder in (drawn, committed) for path in folder.glob("*")}
    return sorted(name for name in names if not (drawn / name).exists() or not (committed / name).exists()
                  or (drawn / name).read_bytes() != (committed / name).read_bytes())


def faults(text):
    """The faults that make a picture hard to read or to use."""
    root = ElementTree.fromstring(text)
    width, height = map(float, root.get("viewBox").split()[2:])
    found = [] if width == WIDTH else [f"its width is {width}"]
    if not root.findtext(f"{SVG}title"):
        found.append("it has no title")
    if "prefers-color-scheme: dark" not in root.findtext(f"{SVG}style"):
        found.append("it has no dark colours")
    for element in root.iter(f"{SVG}text"):
        x, y, size = (float(element.get(name)) for name in ("x", "y", "font-size"))
        if size < SMALLEST_TEXT:
            found.append(f"'{element.text}' is {size} high")
        if not (0 <= x <= width and size * 0.7 <= y <= height):
            found.append(f"'{element.text}' is outside of it")
    return found


def check_that_faults_are_found(folder):
    text = (COMMITTED / "tree.svg").read_text()
    first = re.search(r'<text x="\d+" y="[\d.]+" font-size="11"', text)[0]
    for what, changed in (("text of 8", text.replace('font-size="11"', 'font-size="8"', 1)),
                          ("text outside", text.replace(first, re.sub(r'x="\d+"', 'x="410"', first), 1)),
                          ("no dark colours", text.replace("prefers-color-scheme: dark", "print")),
                          ("no title", re.sub("<title>.*</title>", "", text))):
        expect(f"noticed: {what}", changed != text and faults(changed) and not faults(text), faults(text))
    for what, name, content in (("another value", "tree.svg", text.replace(">25<", ">26<", 1)),
                                ("another picture", "other.svg", text)):
        other = folder / what
        other.mkdir()
        for path in COMMITTED.glob("*"):
            (other / path.name).write_bytes(path.read_bytes())
        (other / name).write_text(content)
        expect(f"noticed: {what}", differences(other, COMMITTED) == [name], differences(other, COMMITTED))


def check_refused(folder):
    """A program that does something else than its picture says, and no program."""
    programs = folder / "programs"
    programs.mkdir()
    done = draw(folder / "none", programs)
    named = "00_first_kernel is missing" in done.stderr and done.stderr.count("\n") == 1
    expect("a missing program is one sentence, status 3", done.returncode == 3 and named,
           f"exit status {done.returncode}: {done.stderr}")
    loose = programs / "00_first_kernel"
    loose.write_text(LOOSE_GUARD.replace("PROGRAM", repr(str(PROGRAMS / loose.name))))
    loose.chmod(0o755)
    done = draw(folder / "none", programs)
    expect("a guard that lets another lane through is noticed, status 2",
           done.returncode == 2 and "the guard of 03_grid" in done.stderr,
           f"exit status {done.returncode}: {done.stderr}")


def check_pages():
    """Each picture is in a page, with a text that stands for it."""
    pages = "".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
    for path in sorted(COMMITTED.glob("*.svg")):
        texts = re.findall(rf"!\[([^\]]*)\]\(\.\./plots/diagrams/{path.name}\)", pages)
        expect(f"{path.name} is in a page, with a text",
               texts and min(map(len, texts)) >= FEWEST_LETTERS, texts)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        done = draw(folder / "drawn")
        expect("plots/diagrams.py draws", done.returncode == 0, done.stdout + done.stderr)
        different = differences(folder / "drawn", COMMITTED)
        expect("the committed pictures are what it draws now (if not: python3 plots/diagrams.py)",
               not different, different)
        for path in sorted((folder / "drawn").glob("*.svg")):
            expect(f"{path.name} can be read at {WIDTH} pixels", not faults(path.read_text()),
                   faults(path.read_text()))
        check_that_faults_are_found(folder)
        check_refused(folder)
    check_pages()
    done = run("git", "apply", "--check", "plots/timelines.patch", cwd=ROOT)
    expect("the marks of plots/timelines.py fit the kernels", done.returncode == 0, done.stderr)


main()
