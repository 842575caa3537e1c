"""The grader of an exercise notices each mutant of the solution that operators.py makes: it refuses it, or
has a note on it, or the exercise's file of answers says why it is right.

    check_operators.py PROGRAM ANSWERS SOLUTION FOLDER

FOLDER is what operators.py has written to, and PROGRAM the one that it is compiled to.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from answers import lines_of, parse
from check_grader import report_of
from checks import expect


def is_noticed(program, mutant):
    _, verdict = report_of(program, mutant)
    return verdict.get("status") != "solved" or bool(verdict["notes"])


def main():
    program, answers, solution, folder = map(pathlib.Path, sys.argv[1:])
    listed = parse(answers)
    same = {"\n".join(lines_of(one, listed, solution, None)) + "\n": one.name
            for one in listed if one.kind == "same"}
    missed, unknown = [], dict(same)
    for path in sorted(folder.glob("*.cuh")):
        if path.read_text() in same:
            unknown.pop(path.read_text(), None)
        elif not is_noticed(program, path.stem):
            missed.append(path.name)
    expect(f"no mutant in {folder} passes without a note", not missed,
           "Compare them with the solution: " + ", ".join(missed))
    expect("each answer of kind `same` is a mutant", not unknown, ", ".join(unknown.values()))


main()
