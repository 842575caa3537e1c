"""The graders of chapter 09, in a Python that has PyTorch: what they accept, and what they refuse and why.

    python3 tests/pytorch/check_exercises.py                  the solution, the skeleton and a wrong answer
                                                              of each exercise
    python3 tests/pytorch/check_exercises.py --all [NAME...]  all answers in solutions/09_pytorch
    python3 tests/pytorch/check_exercises.py --gpu [NAME...]  those that a GPU may judge otherwise: the right
                                                              ones, and the wrong ones of a GPU

A file answers.txt has the form that tests/solutions/answers.py describes. A body is a whole file here, and
edits change the solution. The text of a wrong answer is that of a complaint: after "gpu: " of one on a GPU,
without which the answer is accepted; after "torch 2.11: " of one with that version, and with others it is not
judged.

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
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "tests/pytorch", "tests/solutions",
                                                  "solutions/09_pytorch")]
from answers import complaints, edited, parse
from checks import expect
from package import torch_python

SOLUTIONS = ROOT / "solutions" / "09_pytorch"
LEAST_RIGHT, LEAST_WRONG = 5, 8
SECONDS = 100  # for one answer, on a busy machine
HAS_GPU = any(pathlib.Path("/dev").glob("nvidia[0-9]*"))


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


def mark_and_text(answer):
    """What stands before the text of a complaint, "gpu" or "torch VERSION" or None, and that text."""
    return re.fullmatch(r"(?:(gpu|torch [\d.]+): )?(.*)", answer.text).groups()


def answers_of(name, solution):
    """The answers of an exercise, each with the text of its file."""
    for answer in parse(SOLUTIONS / name / "answers.txt"):
        lines = answer.lines
        if answer.is_edit:
            lines = edited(solution.splitlines(), lines, "the solution")
        yield answer, "\n".join(lines) + "\n"


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

    def check(self, answer, file):
        where, text = mark_and_text(answer)
        if where and where != "gpu" and where.split()[1] not in metadata.version("torch"):
            print(f"not judged: {self.name}: {answer.name}, which is about {where}")
        elif answer.kind == "right" or where == "gpu" and not HAS_GPU:
            self.expect_solved(answer.name, answer.what, file)
        else:
            self.expect_refused(answer.name, answer.what, text, file)


def concerns_gpu(answer):
    return answer.kind == "right" or mark_and_text(answer)[0] == "gpu"


def check_exercise(name, which):
    solution_file = (SOLUTIONS / name / "solution.py").read_text()
    solution = part(solution_file, "BEGIN SOLUTION")
    found = list(answers_of(name, solution))
    with tempfile.TemporaryDirectory() as folder:
        grader = Grader(name, folder)
        grader.expect_solved("solution", "it is the solution", solution)
        grader.expect_refused("skeleton", "the reader starts with it", "", part(solution_file, "SKELETON"))
        if which == "":
            return grader.check(*next(each for each in found if each[0].kind == "wrong"))
        for answer, file in found:
            if which == "--all" or concerns_gpu(answer):
                grader.check(answer, file)
    for kind, least in (("right", LEAST_RIGHT), ("wrong", LEAST_WRONG)):
        count = sum(answer.kind == kind for answer, _ in found)
        expect(f"{name} has at least {least} {kind} answers: {count}", count >= least)


def check_here(arguments):
    """In the Python that has PyTorch."""
    which = arguments.pop(0) if arguments else ""
    if which not in ("", "--all", "--gpu"):
        sys.exit(f"check_exercises.py: {which}: accepted here: --all, --gpu")
    every = sorted(path.parent.name for path in SOLUTIONS.glob("*/check.py"))
    for name in arguments or every:
        check_exercise(name, which)


def main():
    if "WORKBOOK_CHECKS_HERE" in os.environ:
        return check_here(sys.argv[1:])
    environment = {**os.environ, "WORKBOOK_CHECKS_HERE": "1"}
    done = subprocess.run([torch_python(), "-B", __file__, *sys.argv[1:]], env=environment)
    sys.exit(done.returncode)


main()
