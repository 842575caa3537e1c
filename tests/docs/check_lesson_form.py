"""The form of a lesson: unfolded, at most 2,500 words of prose and no code block of more than 25 lines; its
program, if it has one, prints at most 45 lines of 80 columns. Each exercise has one heading, from which
./workbook takes the order of the exercises; a table of them has the same order.

    python3 tests/docs/check_lesson_form.py            checks the lessons
    python3 tests/docs/check_lesson_form.py PAGE.md    prints what it counts in one page
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, quoted_output

LESSONS = sorted(path.parent.name for path in (ROOT / "chapters").glob("*/lesson.json"))
MOST_WORDS = 2500
MOST_LINES = 25

FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.S | re.M)
NOT_PROSE = (FENCE,
             re.compile(r"<!--.*?-->", re.S),            # marks of quotations
             re.compile(r"!\[.*?\]\(.*?\)", re.S),       # pictures
             re.compile(r"^(?:    |\|).*$", re.M),       # commands and tables
             re.compile(r"(?<=\])\(.*?\)", re.S))        # where links lead


def unfolded(text):
    return re.sub(r"<details>.*?</details>", "", text, flags=re.S)


def words_of_prose(text):
    """Those of a page that are not folded away, in code, tables, commands or pictures."""
    text = unfolded(text)
    for pattern in NOT_PROSE:
        text = pattern.sub("", text)
    return len(text.split())


def longest_block(text):
    """The number of lines of the longest unfolded code block, and its first line."""
    blocks = [block.splitlines() for block in FENCE.findall(unfolded(text))]
    return max(((len(block), block[0]) for block in blocks if block), default=(0, ""))


def headings(text):
    """The numbers of the exercises, in the order of their headings."""
    return re.findall(r"^### Exercise ([0-9.]+[0-9])\b", text, re.M)


def rows(text):
    """The numbers of the exercises, in the order of the table; none where the page has no such table."""
    return re.findall(r"^\| ([0-9]+\.[0-9]+) \|", text, re.M)


def numbers_of(lesson):
    """The numbers of the exercises that the lesson's chapter has, in the order of the files."""
    return [f"{lesson[:2]}.{path.parent.name.split('_')[0]}"
            for path in sorted((ROOT / "solutions" / lesson).glob("*/check.*"))]


def checks_itself():
    page = ("one two [three](x.md)\n\n```cpp\na b\nc\n```\n| x | y |\n\n![alt text](p.svg)\n"
            "<details><summary>four</summary>\nfive\n\n```cpp\n1\n2\n3\n```\n</details>\n"
            "<!-- code: x -->\nsix\n")
    expect("words and lines are counted", words_of_prose(page) == 4 and longest_block(page) == (2, "a b"),
           f"{words_of_prose(page)} words, {longest_block(page)}")
    page = "### Exercise 04.1: tree\nExercise 04.3\n### Exercise 04.10\n| 04.10 | `a` |\n| 04.1 | `b` |\n"
    expect("headings and rows are found",
           headings(page) == ["04.1", "04.10"] and rows(page) == ["04.10", "04.1"],
           f"{headings(page)}, {rows(page)}")


def main():
    if len(sys.argv) > 1:
        text = pathlib.Path(sys.argv[1]).read_text()
        lines, first = longest_block(text)
        print(f"{words_of_prose(text)} words of prose (at most {MOST_WORDS}); "
              f"the longest code block has {lines} lines (at most {MOST_LINES}): {first}")
        return
    checks_itself()
    for lesson in LESSONS:
        text = (ROOT / "docs" / f"{lesson}.md").read_text()
        words = words_of_prose(text)
        expect(f"{lesson} has at most {MOST_WORDS} words of prose", words <= MOST_WORDS, f"it has {words}")
        lines, first = longest_block(text)
        expect(f"{lesson} has no code block of more than {MOST_LINES} lines", lines <= MOST_LINES,
               f"one has {lines}; it begins: {first}")
        named, tabled = headings(text), rows(text)
        expect(f"{lesson}: each exercise has one heading", sorted(named) == sorted(numbers_of(lesson)), named)
        expect(f"{lesson}: the table of exercises has the order of the headings", tabled in ([], named),
               tabled)
        if not (ROOT / "chapters" / lesson / "chapter.cu").exists():
            continue
        table = quoted_output(text).splitlines()
        expect(f"{lesson}: its program prints at most 45 lines of 80 columns",
               len(table) <= 45 and max(map(len, table)) <= 80, f"{len(table)} lines")


main()
