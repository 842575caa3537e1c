"""The predictions of the lessons: each sentence that explains a number comes to that number, and the numbers
are those of the chapters' tables. Solutions of exercises that ask for numbers show how each comes about.

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
COLUMNS = {"read": 1, "write": 2, "speed-up": -1}  # of a row of the table, after the stage's name


def fault(question):
    """The fault of the sentence that explains a number; nothing when it comes to the counted number."""
    found = SUM.search(question["because"]) or FACT.search(question["because"])
    if not found:
        return "has no calculation at its end"
    value = eval(found[1].replace("×", "*"))  # digits and operators alone
    last_place = 10 ** -len(found[2].partition(".")[2])
    if abs(value - question["counted"]) > 0.6 * last_place:
        return f"comes to {value}, and {question['counted']} was counted"
    if found[2] != question["text"].removesuffix("x"):
        return f"ends with {found[2]} in place of {question['text']}"
    return ""


def has_column(table, question):
    """Whether the table has the column: where arithmetic counts, FLOP/byte stands in the speed-up's place."""
    return question["asked"] in COLUMNS and (question["asked"] != "speed-up" or "speedup" in table)


def shown(table, question):
    """The number of a question in the chapter's table; None where the table has none."""
    beginning = f"{question['stage']} "
    row = next((line.split() for line in table.splitlines() if line.startswith(beginning)), None)
    return row and row[1:][COLUMNS[question["asked"]]]


def check_checker():
    def of(because, counted, text):
        return fault({"because": because, "counted": counted, "text": text})

    expect("a right calculation is right", not of("Two floats: 4 + 4 = 8.0.", 8.0, "8.0")
           and not of("Twice: 2 × (4 + 4) / 4 = 4.00x.", 4.0, "4.00x")
           and not of("A float of 4 bytes: 4.0.", 4.0, "4.0"))
    expect("a wrong one is found", of("Two floats: 4 + 4 = 12.0.", 12.0, "12.0")
           and of("4 bytes: 8.0.", 8.0, "8.0") and of("As before.", 8.0, "8.0"))


# "constexpr double kBiasBytes = 4 + 4 + 32.0 / 32;  // x, out, one sector of bias per warp"
NUMBER = re.compile(r"constexpr double (k\w+) = ([^;]+);( +// .+)?$", re.M)


def unexplained(solution, skeleton=""):
    """The numbers of a solution that are not given, in its skeleton, and not calculated, or, where they count
    launches, not explained."""
    given = {(name, value) for name, value, _ in NUMBER.findall(skeleton)}
    return [name for name, value, why in NUMBER.findall(solution)
            if (name, value) not in given
            and (not why or not (re.search(r" [+*/-] ", value) or name.endswith("Launches")))]


def check_puzzles(programs):
    """`solution` shows how each number of an exercise of numbers comes about."""
    found = unexplained("constexpr double kA = 9.0;  // x\nconstexpr double kB = 4 + 5;\n"
                        "constexpr double kCLaunches = 4;  // x\nconstexpr double kD = 4 + 5;  // x\n")
    expect("numbers that fall from the sky are found", found == ["kA", "kB"], found)
    found = unexplained("constexpr double kGiven = 9.0;\nconstexpr double kA = 8.0;\n",
                        "constexpr double kGiven = 9.0;\nconstexpr double kA = 0.0;\n")
    expect("numbers that are given need no explanation", found == ["kA"], found)
    puzzles = [path for path in sorted((ROOT / "solutions").glob("*/*.check.cu"))
               if ".predictions = " in path.read_text()]
    expect("there are exercises of numbers", len(puzzles) >= 3, puzzles)
    for puzzle in puzzles:
        name = f"{puzzle.parent.name}/{puzzle.name.removesuffix('.check.cu')}"
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
        done = run(programs / "workbook", "predict", chapter, "--json")
        expect(f"{chapter}: its predictions are counted", done.returncode == 0, done.stdout + done.stderr)
        questions = json.loads(done.stdout)
        faults = [f"{question['stage']} {question['asked']}: “{question['because']}” {wrong}"
                  for question in questions if (wrong := fault(question))]
        expect(f"{chapter}: {len(questions)} explanations come to what is counted", questions and not faults,
               "\n".join(faults))
        table = run(programs / chapter, "--device", "cpu").stdout
        others = [(question, shown(table, question)) for question in questions
                  if has_column(table, question) and shown(table, question) != question["text"]]
        expect(f"{chapter}: ... which is what the chapter's table has", not others, (others, table))
        page = (ROOT / "docs" / f"{chapter}.md").read_text()
        quoted = all(f"<!-- {kind}: {chapter} -->" in page for kind in ("predictions", "answers"))
        expect(f"{chapter}: its page asks and answers", quoted)


main()
