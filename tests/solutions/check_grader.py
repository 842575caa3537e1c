"""The grader of an exercise: it passes what is right and refuses what is wrong, for the right reason.

    check_grader.py PROGRAM WRONG                  the skeleton, the solution and the mutants
    check_grader.py --answers PROGRAM RIGHT WRONG  whole files, right and wrong
    check_grader.py --gpu PROGRAM                  on a GPU: all that is right is right there

RIGHT is a folder of .cuh files, WRONG one of patches against the solution, the mutants, and of .cuh files.
The first line of each says what is special about it: "// one warp per row", "# the tail is dropped". In a
wrong file it goes on with " | text": `text` must be in one of the verdict's complaints. These are why a file
was not run, the messages of wrong cases, "over budget: WHAT: QUESTION", and for a prediction "NAME: more",
"NAME: fewer" and so on, and "NAME: MISTAKE" where the cause of the number is known. In a right file it may go
on with " | text", which must be in a note.
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, run, skip

LEAST_MUTANTS, LEAST_RIGHT, LEAST_WRONG = 6, 6, 10
NO_GPU, NOTHING_TO_TIME = 3, 4  # the grader's exit statuses


def report_of(*command):
    """Exit status, and what the program wrote to the file that is its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "verdict.json"
        done = run(*command, path, timeout=120)
        written = json.loads(path.read_text()) if path.exists() else {}
        return done.returncode, written


def complaints(verdict):
    found = [verdict["refused"]] if verdict["refused"] else []
    found += [case["message"] for case in verdict["cases"] if not case["right"]]
    over = [limit for limit in verdict["budget"] if limit["over"]]
    found += [f"over budget: {limit['what']}: {limit['excess']}" for limit in over]
    for one in verdict["predictions"]:
        texts = (one["counted"], one["slip"])
        found += [f"{one['name']}: {text}" for text in texts if text not in ("right", "")]
    return found


def judge(program, version):
    """Whether it is solved, its complaints, and its notes."""
    status, verdict = report_of(program, version)
    expect(f"there is a verdict on {version}", status == 0 and verdict.get("status") in ("solved", "not yet"),
           f"exit status {status}: {verdict}")
    return verdict["status"] == "solved", complaints(verdict), verdict["notes"]


def first_line(path):
    """The text of a file's first line, and the text after the bar, if any."""
    line = path.read_text().splitlines()[0]
    begin, what = line.partition(" ")[::2]
    what, _, text = what.partition(" | ")
    expect(f"{path.name} begins with what is special about it", begin in ("#", "//") and what, line)
    return what, text


def expect_solved(program, version, what, note=""):
    solved, found, notes = judge(program, version)
    expect(f"{version} passes: {what}", solved and not found, "\n".join(found[:3]))
    unwanted = [one for one in notes if not note or note not in one]
    expect(f"{version} has {'a note' if note else 'no notes'}", not unwanted and bool(notes) == bool(note),
           "\n".join(notes))


def expect_refused(program, version, what, text):
    expect(f"{version} has a text to look for", text)
    solved, found, _ = judge(program, version)
    expect(f"{version} is refused: {what} ({text})", not solved and any(text in one for one in found),
           "\n".join(found[:3]) or "it was accepted")


def check_mutants(program, wrong):
    solved, found, _ = judge(program, "skeleton")
    expect("the skeleton is refused", not solved and found, found)
    expect_solved(program, "solution", "it is the solution")
    patches = sorted(wrong.glob("*.patch"))
    expect(f"there are at least {LEAST_MUTANTS} mutants", len(patches) >= LEAST_MUTANTS, patches)
    for patch in patches:
        expect_refused(program, f"mutant_{patch.stem}", *first_line(patch))


def check_answers(program, right, wrong):
    answers, mistakes = sorted(right.glob("*.cuh")), sorted(wrong.glob("*.cuh"))
    for path in answers:
        expect_solved(program, f"right_{path.stem}", *first_line(path))
    for path in mistakes:
        expect_refused(program, f"wrong_{path.stem}", *first_line(path))
    expect(f"there are at least {LEAST_RIGHT} right answers", len(answers) >= LEAST_RIGHT, answers)
    count = len(mistakes) + len(list(wrong.glob("*.patch")))
    expect(f"there are at least {LEAST_WRONG} wrong ones", count >= LEAST_WRONG, count)


def on_gpu(program):
    status, report = report_of(program)
    if status == NO_GPU:
        skip("there is no GPU")
    if status == NOTHING_TO_TIME:
        skip("this exercise asks for numbers")
    expect("there is a report", status == 0 and report, status)
    for version, result in report.items():
        if version == "solution" or version.startswith("right_"):
            expect(f"{version} is right and timed", result["message"] == "" and result["time_us"] > 0, result)
    print(report)


def main():
    if sys.argv[1] == "--gpu":
        on_gpu(sys.argv[2])
    elif sys.argv[1] == "--answers":
        check_answers(sys.argv[2], *map(pathlib.Path, sys.argv[3:]))
    else:
        check_mutants(sys.argv[1], pathlib.Path(sys.argv[2]))


main()
