"""The grader of an exercise: it passes what is right and refuses what is wrong, for the right reason.

    check_grader.py PROGRAM ANSWERS            the skeleton, the solution and the slips
    check_grader.py --answers PROGRAM ANSWERS  the right and the wrong answers
    check_grader.py --gpu PROGRAM [untimed]    on a GPU: all that is right is right there, and can be timed

ANSWERS is the exercise's file solutions/CHAPTER/NAME/answers.txt, which answers.py explains. The text of a
slip or a wrong answer must be in one of the verdict's complaints. These are why a file was not run, the
messages of wrong cases, "over budget: WHAT: QUESTION", and for a prediction "NAME: more", "NAME: fewer" and
so on, and "NAME: MISTAKE" where the cause of the number is known. The text of a right answer must be in its
note; without a text, the answer has no note.
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from answers import Mistake, complaints, parse
from checks import expect, run, skip

LEAST_SLIPS, LEAST_RIGHT, LEAST_WRONG = 5, 3, 8
NO_GPU, NOTHING_TO_TIME = 3, 4  # the grader's exit statuses


def report_of(*command, after=()):
    """Exit status, and what the program wrote to the file that is its argument before those `after`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "verdict.json"
        done = run(*command, path, *after, timeout=600)
        written = json.loads(path.read_text()) if path.exists() else {}
        return done.returncode, written


def judge(program, version):
    """Whether it is solved, its complaints, and its notes."""
    status, verdict = report_of(program, version)
    expect(f"there is a verdict on {version}", status == 0 and verdict.get("status") in ("solved", "not yet"),
           f"exit status {status}: {verdict}")
    return verdict["status"] == "solved", complaints(verdict), verdict["notes"]


def expect_solved(program, version, what, note=""):
    solved, found, notes = judge(program, version)
    expect(f"{version} passes: {what}", solved and not found, "\n".join(found[:3]))
    unwanted = [one for one in notes if not note or note not in one]
    expect(f"{version} has {'a note' if note else 'no notes'}", not unwanted and bool(notes) == bool(note),
           "\n".join(notes))


def expect_refused(program, version, what, text):
    solved, found, _ = judge(program, version)
    expect(f"{version} is refused: {what} ({text})", not solved and any(text in one for one in found),
           "\n".join(found[:3]) or "it was accepted")


def expect_at_least(least, kind, answers):
    names = [answer.name for answer in answers if answer.kind in kind.split(" or ")]
    expect(f"there are at least {least} answers of kind {kind}", len(names) >= least, names)


def check_slips(program, answers):
    solved, found, _ = judge(program, "skeleton")
    expect("the skeleton is refused", not solved and found, found)
    expect_solved(program, "solution", "it is the solution")
    for answer in answers:
        if answer.kind == "slip":
            expect_refused(program, answer.version, answer.what, answer.text)
    expect_at_least(LEAST_SLIPS, "slip", answers)


def check_answers(program, answers):
    for answer in answers:
        if answer.kind == "right":
            expect_solved(program, answer.version, answer.what, answer.text)
        if answer.kind == "wrong":
            expect_refused(program, answer.version, answer.what, answer.text)
    expect_at_least(LEAST_RIGHT, "right", answers)
    expect_at_least(LEAST_WRONG, "slip or wrong", answers)


def answers_of(path):
    """The answers that a file lists, or the end of this test."""
    expect(f"there is {path}", path.is_file(), "write it: docs/adding_an_exercise.md says how")
    try:
        return parse(path)
    except Mistake as mistake:
        sys.exit(f"FAILED: {mistake}")


def on_gpu(program, untimed):
    status, report = report_of(program, after=["untimed"] if untimed else [])
    if status == NO_GPU:
        skip("there is no GPU")
    if status == NOTHING_TO_TIME:
        skip("this exercise asks for numbers")
    expect("there is a report", status == 0 and report, status)
    if "skipped" in report:
        skip(report["skipped"])
    for version, result in report.items():
        if version == "solution" or version.startswith("right_"):
            expect(f"{version} is right", result["message"] == "", result)
            expect(f"{version} is timed, if it is to be", untimed == (result["time_us"] == 0), result)
    print(report)


def main():
    if sys.argv[1] == "--gpu":
        on_gpu(sys.argv[2], sys.argv[3:] == ["untimed"])
    elif sys.argv[1] == "--answers":
        check_answers(sys.argv[2], answers_of(pathlib.Path(sys.argv[3])))
    else:
        check_slips(sys.argv[1], answers_of(pathlib.Path(sys.argv[2])))


if __name__ == "__main__":
    main()
