"""The grader of an exercise: it refuses the skeleton, passes the solution, refuses mutants for their reasons.

    python3 tests/solutions/check_grader.py PROGRAM MUTANTS  on the CPU device; MUTANTS is a folder of patches
    python3 tests/solutions/check_grader.py --gpu PROGRAM    on a GPU: the solution is right and timed

A patch begins with "# reason | text": `text` must be in one of the verdict's complaints. These are the
messages of wrong cases, "over budget: WHAT", and for a number "NAME: more" or "NAME: fewer".
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, run, skip

LEAST_MUTANTS = 6
NO_GPU, NOTHING_TO_TIME = 3, 4  # the grader's exit statuses


def report_of(*command):
    """Exit status, and what the program wrote to the file that is its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "verdict.json"
        done = run(*command, path, timeout=120)
        written = json.loads(path.read_text()) if path.exists() else {}
        return done.returncode, written


def complaints(verdict):
    found = [case["message"] for case in verdict["cases"] if not case["right"]]
    found += [f"over budget: {limit['what']}" for limit in verdict["budget"] if limit["over"]]
    found += [f"{p['name']}: {p['counted']}" for p in verdict["predictions"] if p["counted"] != "right"]
    return found


def judge(program, version):
    """Whether it is solved, its complaints, and its notes."""
    status, verdict = report_of(program, version)
    expect(f"there is a verdict on {version}", status == 0 and verdict.get("status") in ("solved", "not yet"),
           f"exit status {status}: {verdict}")
    return verdict["status"] == "solved", complaints(verdict), verdict["notes"]


def on_cpu(program, folder):
    solved, found, _ = judge(program, "skeleton")
    expect("the skeleton is refused", not solved and found, found)
    solved, found, notes = judge(program, "solution")
    expect("the solution passes", solved and not found, found)
    expect("the solution has no notes", not notes, notes)
    patches = sorted(folder.glob("*.patch"))
    expect(f"there are at least {LEAST_MUTANTS} mutants", len(patches) >= LEAST_MUTANTS, patches)
    for patch in patches:
        head, separator, text = patch.read_text().splitlines()[0].partition(" | ")
        begins = head.startswith("# ") and separator and text
        expect(f"{patch.name} begins with # reason | text", begins, head)
        solved, found, _ = judge(program, f"mutant_{patch.stem}")
        refused = not solved and any(text in one for one in found)
        expect(f"{patch.stem} is refused: {head[2:]} ({text})", refused,
               "\n".join(found[:3]) or "it was accepted")


def on_gpu(program):
    status, report = report_of(program)
    if status == NO_GPU:
        skip("there is no GPU")
    if status == NOTHING_TO_TIME:
        skip("this exercise asks for numbers")
    expect("there is a report", status == 0 and report, status)
    solution = report["solution"]
    expect("the solution is right and timed", solution["message"] == "" and solution["time_us"] > 0, report)
    print(report)


def main():
    if sys.argv[1] == "--gpu":
        on_gpu(sys.argv[2])
    else:
        on_cpu(sys.argv[1], pathlib.Path(sys.argv[2]))


main()
