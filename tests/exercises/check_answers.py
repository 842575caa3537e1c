"""The graders of chapter 09, in a Python that has PyTorch: what they accept, and what they refuse and why.

    python3 tests/exercises/check_answers.py                  of each exercise the solution, what the reader
                                                              starts with, and a wrong answer
    python3 tests/exercises/check_answers.py --all [NAME...]  all answers in tests/exercises/09_pytorch

A file NAME.answers has sections, each of which begins with one of

    === right NAME: what is special about it
    === wrong NAME: what is wrong | a text that one of the grader's complaints has

After "gpu: " the text is that of a complaint on a GPU; without one the answer is accepted. After
"torch 2.11: " it is one with that version; with others the answer is not judged. Below the head is the
answer, or how it differs from the solution:

    --- the solution has
    lines, which the solution has once
    +++ the answer has
    lines in their place

Exit status 4 where there is no Python with PyTorch 2.10 or newer.
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from importlib import metadata

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "pytorch"), str(ROOT / "solutions" / "09_pytorch")]
from checks import expect
from package import torch_python

FOLDER = ROOT / "tests" / "exercises" / "09_pytorch"
SOLUTIONS = ROOT / "solutions" / "09_pytorch"
LEAST_RIGHT, LEAST_WRONG = 5, 8
SECONDS = 20  # for one answer, on a busy machine
HAS_GPU = any(pathlib.Path("/dev").glob("nvidia[0-9]*"))
EDIT = re.compile(r"^--- the solution has\n(.*?)^\+\+\+ the answer has\n(.*?)(?=^---|\Z)", re.M | re.S)


def part(solution, wanted):
    """The solution without its markers, or what the reader starts with, as cli/skeleton.cpp makes them."""
    lines, now = [], ""
    for line in solution.splitlines(keepends=True):
        mark = re.fullmatch(r" *# (BEGIN SOLUTION|SKELETON|END SOLUTION)\n", line)
        if mark:
            now = "" if mark[1] == "END SOLUTION" else mark[1]
        elif not now or now == wanted:
            lines.append(re.sub(r"# ?", "", line, count=1) if now == "SKELETON" else line)
    return "".join(lines)


def edited(solution, text):
    """The answer of a section."""
    if not EDIT.match(text):
        return text
    for old, new in EDIT.findall(text):
        old, new = old.rstrip("\n"), new.rstrip("\n")
        expect(f"the solution has once: {old.splitlines()[0].strip()}", solution.count(old) == 1)
        solution = solution.replace(old, new)
    return solution


def sections(name, solution):
    """Kind, name, what is special, complaint, and the answer."""
    text = (FOLDER / f"{name}.answers").read_text()
    for head, body in re.findall(r"^=== ([^\n]*)\n(.*?)(?=^=== |\Z)", text, re.M | re.S):
        kind, title, what, complaint = re.fullmatch(r"(right|wrong) (\w+): (.*?)(?: \| (.*))?", head).groups()
        yield kind, title, what, complaint or "", edited(solution, body.strip("\n") + "\n")


def complaints(verdict):
    found = [verdict["refused"]] if verdict["refused"] else []
    found += [case["message"] for case in verdict["cases"] if not case["right"]]
    return found + [f"over budget: {limit['what']}: {limit['excess']}"
                    for limit in verdict["budget"] if limit["over"]]


class Grader:
    """Judges answers to one exercise."""

    def __init__(self, name, folder):
        import judge
        self.name, self.folder = name, pathlib.Path(folder)
        self.exercise, self.judge = judge.exercise_named(name), judge.judge
        judge.prepare(self.exercise)
        if self.exercise.COMPILES:
            importlib.import_module("torch._inductor.lowering")  # torch.compile would, in each child

    def verdict(self, answer):
        file = self.folder / f"{self.name}.py"
        file.write_text(answer)
        return self.judge(self.exercise, file, self.folder / "verdict.json", SECONDS)

    def expect_solved(self, title, what, answer):
        verdict = self.verdict(answer)
        expect(f"{self.name}: {title} is accepted: {what}", verdict["status"] == "solved",
               "\n".join(complaints(verdict)[:3]))

    def expect_refused(self, title, what, complaint, answer):
        verdict = self.verdict(answer)
        found = complaints(verdict)
        refused = verdict["status"] == "not yet" and any(complaint in each for each in found)
        expect(f"{self.name}: {title} is refused: {what} ({complaint})", refused,
               "\n".join(found[:3]) or "it was accepted")

    def check(self, kind, title, what, complaint, answer):
        where, text = re.fullmatch(r"(?:(gpu|torch [\d.]+): )?(.*)", complaint).groups()
        if where and where != "gpu" and where.split()[1] not in metadata.version("torch"):
            print(f"not judged: {self.name}: {title}, which is about {where}")
        elif kind == "right" or where == "gpu" and not HAS_GPU:
            self.expect_solved(title, what, answer)
        else:
            self.expect_refused(title, what, text, answer)


def check_exercise(name, everything):
    solution_file = (SOLUTIONS / f"{name}.py").read_text()
    solution = part(solution_file, "BEGIN SOLUTION")
    found = list(sections(name, solution))
    with tempfile.TemporaryDirectory() as folder:
        grader = Grader(name, folder)
        grader.expect_solved("solution", "it is the solution", solution)
        grader.expect_refused("skeleton", "the reader starts with it", "", part(solution_file, "SKELETON"))
        if not everything:
            return grader.check(*next(each for each in found if each[0] == "wrong"))
        for each in found:
            grader.check(*each)
    for kind, least in (("right", LEAST_RIGHT), ("wrong", LEAST_WRONG)):
        count = sum(each[0] == kind for each in found)
        expect(f"{name} has at least {least} {kind} answers: {count}", count >= least)


def check_here(arguments):
    """In the Python that has PyTorch."""
    everything = arguments[:1] == ["--all"]
    every = sorted(path.name.removesuffix(".check.py") for path in SOLUTIONS.glob("*.check.py"))
    for name in arguments[1:] or every:
        check_exercise(name, everything)


def main():
    if "WORKBOOK_CHECKS_HERE" in os.environ:
        return check_here(sys.argv[1:])
    environment = {**os.environ, "WORKBOOK_CHECKS_HERE": "1"}
    done = subprocess.run([torch_python(), "-B", __file__, *sys.argv[1:]], env=environment)
    sys.exit(done.returncode)


main()
