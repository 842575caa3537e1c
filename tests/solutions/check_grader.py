"""The grader of one exercise: the skeleton is refused, the solution passes, each mutant is refused for its reason.

    python3 tests/solutions/check_grader.py PROGRAM MUTANTS     on the CPU device; MUTANTS is a folder of patches
    python3 tests/solutions/check_grader.py --gpu PROGRAM       on a GPU: the skeleton is wrong, the solution right and timed

A patch begins with "# reason | text": `text` must be in one of the verdict's complaints, which are the messages of wrong
cases, "over budget: WHAT", and for a number "NAME: more" or "NAME: fewer".
"""

import json
import pathlib
import subprocess
import sys
import tempfile

LEAST_MUTANTS = 6
SKIPPED, NO_GPU, NOTHING_TO_TIME = 4, 3, 4


def run(*command):
    """Exit status, and what the program wrote to the file that is its last argument."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "verdict.json"
        done = subprocess.run([*command, path], capture_output=True, text=True, timeout=120)
        written = json.loads(path.read_text()) if path.exists() else {}
        return done.returncode, written


def complaints(verdict):
    found = [case["message"] for case in verdict["cases"] if not case["right"]]
    found += [f"over budget: {limit['what']}" for limit in verdict["budget"] if limit["over"]]
    found += [f"{p['name']}: {p['counted']}" for p in verdict["predictions"] if p["counted"] != "right"]
    return found


def judge(program, version):
    status, verdict = run(program, version)
    if status != 0 or verdict.get("status") not in ("solved", "not yet"):
        sys.exit(f"FAILED: {version}: there is no verdict (exit status {status}): {verdict}")
    return verdict["status"] == "solved", complaints(verdict)


def expect(what, condition, details):
    if not condition:
        sys.exit(f"FAILED: {what}\n{details}")
    print("ok:", what)


def on_cpu(program, folder):
    solved, found = judge(program, "skeleton")
    expect("the skeleton is refused", not solved and found, found)
    solved, found = judge(program, "solution")
    expect("the solution passes", solved and not found, found)
    patches = sorted(folder.glob("*.patch"))
    expect(f"there are at least {LEAST_MUTANTS} mutants", len(patches) >= LEAST_MUTANTS, patches)
    for patch in patches:
        head, separator, text = patch.read_text().splitlines()[0].partition(" | ")
        expect(f"{patch.name} begins with # reason | text", head.startswith("# ") and separator and text, head)
        solved, found = judge(program, f"mutant_{patch.stem}")
        expect(f"{patch.stem} is refused: {head[2:]} ({text})", not solved and any(text in one for one in found),
               "\n".join(found[:3]) or "it was accepted")


def on_gpu(program):
    status, report = run(program)
    if status == NO_GPU:
        print("SKIPPED: there is no GPU")
        sys.exit(SKIPPED)
    if status == NOTHING_TO_TIME:
        print("SKIPPED: this exercise asks for numbers")
        sys.exit(SKIPPED)
    expect("there is a report", status == 0 and report, status)
    expect("the solution is right and timed", report["solution"]["message"] == "" and report["solution"]["time_us"] > 0,
           report)
    print(report)


def main():
    if sys.argv[1] == "--gpu":
        on_gpu(sys.argv[2])
    else:
        on_cpu(sys.argv[1], pathlib.Path(sys.argv[2]))


main()
