"""Makes source files of the right and wrong answers that the grader of an exercise is tested with.

    answers.py ANSWERS SOLUTION FOLDER    writes FOLDER/KIND_NAME.cuh for each answer

ANSWERS is solutions/CHAPTER/EXERCISE/answers.txt. What stands in it before the first answer is a
comment. An answer begins with a line that names it:

    === right NAME: what is special about it
    === right NAME: what is special about it | text of the note that it gets
    === wrong NAME: why it must be refused | text of the complaint
    === slip NAME: why it must be refused | text of the complaint
    === same NAME: why it is right

A slip is an edit of the solution, which the plain tests compile and judge; right and wrong answers are left
to the thorough tests. `same` is an edit of the solution that operators.py makes and that does as well. A
text that begins or ends with a blank stands in quotes: "out[4] is ".

Below that line stand edits or a body. Edits look like a diff without line numbers, and a blank line ends one:

    -  if (i < n) out[i] = x[i];
    +  if (i <= n) out[i] = x[i];

"-" and " " begin lines that are there, "+" lines that are to be there. The lines that are there must fit the
solution at exactly one place: add lines around them until they do. Edits below `=== wrong NAME of OTHER: ...`
change the body of the answer OTHER of this file instead.

A body is what stands in the solution's namespace. It has the solution's includes, and those lines `#include`
with which it begins. Some lines of a body stand for others:

    @ block_sum run         these definitions of the solution, with the comments above them
    @ 03_tree: block_sum     a definition of chapters/CHAPTER/03_tree.cuh, or all overloads of that name
    = 16 36.5 12            the solution's `constexpr double` numbers, with these values

A definition is what blank lines enclose. Its name is the first that it declares.
"""

import pathlib
import re
import sys
from typing import NamedTuple

HEADER = re.compile(r"=== (right|wrong|slip|same) (\w+)(?: of (\w+))?: (.*?)(?: \| (.*))?")
MARK = re.compile(r"\s*// (BEGIN SOLUTION|\[[^]]*\])")
NUMBER = re.compile(r"constexpr double (\w+) = .*")


class Answer(NamedTuple):
    kind: str    # right, wrong, slip or same
    name: str
    of: str      # the answer that it is an edit of, or None
    what: str    # what is special about it, or why it must be refused
    text: str    # in a complaint or a note; "" for a right answer without a note
    lines: list  # edits or a body
    place: str   # FILE:LINE

    @property
    def version(self):
        return f"{self.kind}_{self.name}"

    @property
    def is_edit(self):
        return self.lines[0][0] in "-+ "


class Mistake(Exception):
    """Something in a file of answers, or in one of them."""


# --- What graders say of them ---


def complaints(verdict):
    """The objections to an answer in a grader's report."""
    found = [verdict["refused"]] if verdict["refused"] else []
    found += [case["message"] for case in verdict["cases"] if not case["right"]]
    over = [limit for limit in verdict["budget"] if limit["over"]]
    found += [f"over budget: {limit['what']}: {limit['excess']}" for limit in over]
    for one in verdict.get("predictions", ()):  # chapter 09 has none
        texts = (one["counted"], one["slip"])
        found += [f"{one['name']}: {text}" for text in texts if text not in ("right", "")]
    return found


# --- From a file to answers ---


def parse(path):
    """The answers of a file, in its order."""
    answers = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("==="):
            answers.append(answer_of(line, f"{path}:{number}"))
        elif answers:
            answers[-1].lines.append(line)
    for answer in answers:
        strip_blank_lines(answer.lines)
    refuse_mistakes(answers)
    return answers


def answer_of(header, place):
    found = HEADER.fullmatch(header)
    if not found:
        raise Mistake(f"{place}: an answer begins with `=== right NAME: what is special`, or with "
                      f"`=== wrong NAME: why | complaint`, or the same with `slip`; this line is\n{header}")
    kind, name, of, what, text = found.groups()
    text = text or ""
    if text[:1] == text[-1:] == '"':
        text = text[1:-1]
    return Answer(kind, name, of, what, text, [], place)


def strip_blank_lines(lines):
    while lines and not lines[-1]:
        del lines[-1]
    while lines and not lines[0]:
        del lines[0]


def refuse_mistakes(answers):
    places = {}
    for answer in answers:
        if answer.name in places:
            raise Mistake(f"{answer.place}: {places[answer.name]} has an answer {answer.name} already")
        places[answer.name] = answer.place
        if answer.kind in ("wrong", "slip") and not answer.text:
            raise Mistake(f"{answer.place}: {answer.name} needs ` | text of the complaint`")
        if not answer.lines:
            raise Mistake(f"{answer.place}: {answer.name} has neither edits nor a body")
        if answer.kind in ("slip", "same") and (answer.of or not answer.is_edit):
            raise Mistake(f"{answer.place}: {answer.name} is no edit of the solution; call it wrong")
        if answer.of and not answer.is_edit:
            raise Mistake(f"{answer.place}: {answer.name} has a body, which takes nothing of {answer.of}")


# --- The solution and its definitions ---


def frame_of(solution):
    """The lines of a solution from `#pragma once`, without marks and skeleton."""
    text = re.sub(r"\n *// SKELETON\n.*?// END SOLUTION", "", solution.read_text(), flags=re.S)
    lines = [line for line in text.splitlines() if not MARK.fullmatch(line)]
    return lines[lines.index("#pragma once"):]


def namespace_of(lines):
    """Where the lines that open and close the namespace are."""
    begin = next(i for i, line in enumerate(lines) if line.startswith("namespace "))
    end = max(i for i, line in enumerate(lines) if line.startswith("}  // namespace"))
    return begin, end


def definitions(lines):
    """(name, lines) of each definition in a file's namespace."""
    begin, end = namespace_of(lines)
    text = "\n".join(line for line in lines[begin + 1:end] if not MARK.fullmatch(line)).strip("\n")
    for part in re.split(r"\n\n+(?=[^\s#])", text):  # a blank line within a function ends nothing
        code = re.sub(r"^//.*\n|^template <.*?>\n|__launch_bounds__\(.*?\)", "", part, flags=re.M)
        if names := re.findall(r"\w+", re.split(r"[({;=[]", code)[0]):
            yield names[-1], part.splitlines()


# --- From an answer to the lines of its file ---


def copied(line, frame, chapter):
    """The lines that `@ [STAGE:] NAME...` stands for."""
    stage, _, names = line[2:].rpartition(":")
    source = chapter / f"{stage}.cuh"
    if stage and not source.is_file():
        raise Mistake(f"there is no {source.name} in {chapter}:\n{line}")
    found = list(definitions(source.read_text().splitlines() if stage else frame))
    lines = []
    for name in names.split():
        fitting = [part for other, part in found if other == name]
        if not fitting:
            known = ", ".join(other for other, _ in found)
            raise Mistake(f"no definition is called {name}; there are {known}:\n{line}")
        for part in fitting:
            lines += [""] * bool(lines) + part
    return lines


def numbered(line, frame):
    """The lines that `= VALUE...` stands for."""
    names = [found[1] for one in frame if (found := NUMBER.fullmatch(one))]
    values = line[2:].split()
    if len(names) != len(values):
        raise Mistake(f"{len(values)} values for {len(names)} numbers, {', '.join(names)}:\n{line}")
    return [f"constexpr double {name} = {value};" for name, value in zip(names, values)]


def whole(answer, frame, chapter):
    """The lines of an answer that has a body."""
    begin, end = namespace_of(frame)
    includes = [line for line in answer.lines if line.startswith("#include")]
    lines = []
    for line in answer.lines:
        if line.startswith("@ "):
            lines += copied(line, frame, chapter)
        elif line.startswith("= "):
            lines += numbered(line, frame)
        elif line not in includes:
            lines.append(line)
    strip_blank_lines(lines)
    first = f"// {answer.what}"
    return [first, "#pragma once", *includes, *frame[1:begin + 1], "", *lines, "", frame[end]]


def edited(old, edits, what):
    """`old` with all edits applied, each of which must fit at exactly one place."""
    changes = []  # first line, line after the last, the lines that come there
    for edit in (part.splitlines() for part in re.split(r"\n\n+", "\n".join(edits))):
        if other := [line for line in edit if line[0] not in "-+ "]:
            raise Mistake(f"lines of an edit begin with `-`, `+` or a blank; this one does not:\n{other[0]}")
        there = [line[1:] for line in edit if line[0] != "+"]
        fits = [i for i in range(len(old)) if there and old[i:i + len(there)] == there]
        if len(fits) != 1:
            where = " and ".join(f"line {i + 1}" for i in fits) or "nowhere"
            raise Mistake(f"this edit must fit {what} at one place and fits {where}:\n" + "\n".join(edit))
        changes.append((fits[0], fits[0] + len(there), [line[1:] for line in edit if line[0] != "-"]))
    return replaced(old, sorted(changes), what)


def replaced(old, changes, what):
    new, at = [], 0  # at: lines of `old` that are done with
    for begin, end, lines in changes:
        if begin < at:
            raise Mistake(f"two edits change line {begin + 1} of {what}")
        new += old[at:begin] + lines
        at = end
    return new + old[at:]


def lines_of(answer, answers, solution, chapter):
    """The lines of the file of an answer."""
    frame = frame_of(solution)
    if not answer.is_edit:
        return whole(answer, frame, chapter)
    if not answer.of:
        return edited(solution.read_text().splitlines(), answer.lines, "the solution")
    base = next((other for other in answers if other.name == answer.of and not other.is_edit), None)
    if not base:
        raise Mistake(f"no answer with a body has the name {answer.of}")
    return edited(whole(base._replace(what=answer.what), frame, chapter), answer.lines, answer.of)


def texts_of(path, solution):
    """The text of each version's file."""
    chapter = solution.parents[3] / "chapters" / solution.parents[1].name
    answers = parse(path)
    texts = {}
    for answer in answers:
        try:
            texts[answer.version] = "\n".join(lines_of(answer, answers, solution, chapter)) + "\n"
        except Mistake as mistake:
            raise Mistake(f"{answer.place}: {answer.name}: {mistake}") from None
    return texts


def write(path, solution, folder):
    """Writes what has changed, so that nothing else is compiled again, and deletes what is gone."""
    texts = texts_of(path, solution)
    for version, text in texts.items():
        file = folder / f"{version}.cuh"
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    for file in folder.glob("*_*.cuh"):
        if file.stem not in texts:
            file.unlink()


if __name__ == "__main__":
    try:
        write(*map(pathlib.Path, sys.argv[1:]))
    except Mistake as mistake:
        sys.exit(str(mistake))
