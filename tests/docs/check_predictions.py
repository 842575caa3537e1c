"""The predictions of the lessons: each sentence that explains a number comes to that number. Solutions of
exercises that ask for numbers show how each comes about.

python3 tests/docs/check_predictions.py build/bin
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

SUM = re.compile(r"([\d.+×/() -]*\d[\d.+×/() -]*) = (\d+\.\d+)x?\.$")  # "...: 2 × (4 + 4) = 16.0."
FACT = re.compile(r"(\d+) bytes?: (\d+\.\d+)x?\.$")  # "..., one float of 4 bytes: 4.0."
# A row of the answers on a page, which update.py keeps up to date, as the output of the program.
ANSWER = re.compile(r"^\| (\w+) \| (read|write|speed-up) \| ([\d.]+x?) \| (.+) \|$", re.M)


def fault(because, counted):
    """The fault of the sentence that explains a number; nothing when it comes to the counted number."""
    found = SUM.search(because) or FACT.search(because)
    if not found:
        return "has no calculation at its end"
    value = eval(found[1].replace("×", "*"))  # digits and operators alone
    last_place = 10 ** -len(found[2].partition(".")[2])
    if abs(value - float(counted.removesuffix("x"))) > 1.1 * last_place:  # counted is rounded
        return f"comes to {value}, and {counted} was counted"
    return "" if found[2] == counted.removesuffix("x") else f"ends with {found[2]} in place of {counted}"


def check_checker():
    expect("a right calculation is right", not fault("Two floats: 4 + 4 = 8.0.", "8.0")
           and not fault("Twice: 2 × (4 + 4) / 4 = 4.00x.", "4.00x")
           and not fault("A float of 4 bytes: 4.0.", "4.0"))
    expect("a wrong one is found", fault("Two floats: 4 + 4 = 12.0.", "12.0")
           and fault("4 bytes: 8.0.", "8.0") and fault("As before.", "8.0"))


# "constexpr double kBiasBytes = 4 + 4 + 32.0 / 32;  // x, out, one sector of bias per warp"
NUMBER = re.compile(r"constexpr double (k\w+) = ([^;]+);( +// .+)?$", re.M)


def unexplained(solution, skeleton=""):
    """The numbers of a solution that are not given, in its skeleton, and not calculated, or, where they count
    launches, not explained."""
    given = {(name, value) for name, value, _ in NUMBER.findall(skeleton)}
    return [name for name, value, why in NUMBER.findall(solution)
            if (name, value) not in given
            and (not why or not (re.search(r" [+*/-] |\w\(", value) or name.endswith("Launches")))]


def check_puzzles(programs):
    """`solution` shows how each number of an exercise of numbers comes about."""
    found = unexplained("constexpr double kA = 9.0;  // x\nconstexpr double kB = 4 + 5;\n"
                        "constexpr double kCLaunches = 4;  // x\nconstexpr double kD = 4 + 5;  // x\n")
    expect("numbers that fall from the sky are found", found == ["kA", "kB"], found)
    found = unexplained("constexpr double kGiven = 9.0;\nconstexpr double kA = 8.0;\n",
                        "constexpr double kGiven = 9.0;\nconstexpr double kA = 0.0;\n")
    expect("numbers that are given need no explanation", found == ["kA"], found)
    puzzles = [path for path in sorted((ROOT / "solutions").glob("*/*/check.cu"))
               if ".predictions = " in path.read_text()]
    expect("there are exercises of numbers", len(puzzles) >= 3, puzzles)
    for puzzle in puzzles:
        name = f"{puzzle.parent.parent.name}/{puzzle.parent.name}"
        solution = run(programs / "workbook", "solution", name, "--reveal").stdout
        chapter, exercise = name.split("/")
        skeleton = (ROOT / "chapters" / chapter / "exercises" / f"{exercise}.cuh").read_text()
        wrong = unexplained(solution, skeleton)
        expect(f"{name}: its solution shows how each number comes about",
               len(NUMBER.findall(solution)) >= 5 and not wrong, wrong)


def main():
    programs = pathlib.Path(sys.argv[1])
    check_checker()
    check_puzzles(programs)
    lessons = [path for path in sorted((ROOT / "chapters").glob("*/lesson.json"))
               if "predict" in json.loads(path.read_text())]
    expect("chapters have lessons", len(lessons) >= 4, lessons)
    for lesson in lessons:
        chapter = lesson.parent.name
        page = (ROOT / "docs" / f"{chapter}.md").read_text()
        expect(f"{chapter}: its page asks and answers",
               all(f"<!-- {kind}: {chapter} -->" in page for kind in ("predictions", "answers")))
        answers = ANSWER.findall(page)
        faults = [f"{stage} {asked}: “{because}” {wrong}"
                  for stage, asked, counted, because in answers if (wrong := fault(because, counted))]
        expect(f"{chapter}: {len(answers)} explanations come to what is counted", answers and not faults,
               "\n".join(faults))


main()
