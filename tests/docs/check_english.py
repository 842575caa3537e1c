"""Plain English: no page and no comment has a form of words that readers have to read twice.

    python3 tests/docs/check_english.py            checks all pages and the comments of all code
    python3 tests/docs/check_english.py FILE...    checks these files

It reads pages without their code, comments of C++ and CUDA, comments and docstrings of Python, and comments
of CMake and shell scripts. The list is short on purpose: each form has a plain one that is always better. To
name such a form itself, write it as code, between backticks, or as a quotation.
"""

import ast
import io
import pathlib
import re
import sys
import tempfile
import tokenize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

UNIT = r"(?:block|warp|thread|lane|element|row|column|tile|vector|request|cluster|multiprocessor)"
COUNT = r"\d+|two|four|eight|sixteen|several|many"
ACTOR = r"(?:lane|thread|warp|block|kernel|load|request|instruction|multiprocessor)s?"
BEGIN = r"(?:^|(?<=[.:;!?] ))"  # of a sentence
STATED = r"(?=[^.?!:]*(?:[.!]|$))"  # no question
SAID = r"(?=[^.?!:]*\.)"  # neither a question nor a title

# A name, the form, and what to write instead.
FORMS = [(name, re.compile(form), advice) for name, form, advice in (
    ("a block a row",
     rf"(?i)\b(?:(?:an?|one) {UNIT}|(?:{COUNT}) (?:{UNIT}s|bytes)) an? {UNIT}\b",
     'write "per": one block per row, 256 threads per block, 16 bytes per lane'),
    ("on its way",
     r"(?i)\b(?:bytes|loads|copy|copies|requests|data)\b[^.?!]{0,20} (?:on (?:its|their)|under) way\b",
     'write "in flight"'),
    ("asks for",
     rf"(?i)\b{ACTOR} asks? for\b|\b(?:bytes|sectors|words|elements) (?:that are )?asked for\b",
     'say what the hardware does: it "reads", "loads", "stores" or "requests"'),
    ("lies",
     r"(?i)\b(?:lies?|lay) (?:in|on|at|between|behind|within|outside|next to|side by side|row by row)\b",
     'write "is", "are", "is stored" or "begins"'),
    ("behind",
     r"(?i)\bbehind (?:the|an?|each|its|their) (?:end|last|barrier|wait|loop|array|element|byte|word)\b",
     'write "after" or "past"'),
    ("mend, anew, seldom",
     r"(?i)\b(?:mend(?:s|ed|ing)?|anew|seldom|thereby|wherein|whereby|amid|beneath)\b",
     'write "fix", "again", "rarely", "so", "in which", "in the middle of", "below"'),
    ("Who copies must wait",
     rf"{BEGIN}Who(?:ever)? [a-z]+{STATED}",
     'name who it is: "The warp that copies must wait"'),
    ("What is loaded stays",
     rf"{BEGIN}What (?:is|are|was|were|has|have|an?|the|it|they|this|that|no|nothing|each)\b{SAID}",
     'begin with a noun: "Loaded values stay"; of a function, say what it returns or does'),
    ("Of the lanes, two load",
     rf"{BEGIN}Of (?:an?|the|this|that|these|those|each|all|any|which|its|their|such|one|two|three|\d+)\b",
     'begin with the subject: "Two of the lanes load"'),
    ("is none",
     r"\b(?:ceiling|difference|mistake|race) is none\b|\bwhich therefore is none\b",
     'say what it is not: "the ceiling is wrong", "there is no difference"'),
    ("as many as it likes",
     r"(?i)\bas many(?: \w+)? as (?:it|they|one|you) (?:likes?|wants?)\b",
     'write "any number of"'),
    ("the sum less the mean",
     r"(?i)\bless (?:the|its|their) (?:squares?|mean|sum|first|last|number)\b",
     'write "minus", or "without"'),
)]

# --- The sentences of a file: (line, text) ---

C_TOKEN = re.compile(r'''R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|(//[^\n]*)|(/\*.*?\*/)''', re.S)
TOPS = ("chapters", "cli", "cmake", "common", "cpu_device", "docs", "play", "plots", "solutions", "tests")
SCRIPTS = ("CMakeLists.txt", "*/CMakeLists.txt", "workbook")
C_SUFFIXES = (".cu", ".cuh", ".hpp", ".cpp", ".h", ".js", ".css", ".inc")
SUFFIXES = (".md", ".py", ".cmake", *C_SUFFIXES)
NOT_PROSE = (re.compile(r"^```.*?^```$", re.S | re.M), re.compile(r"<!--.*?-->", re.S),
             re.compile(r"^(?:    \S|#).*$", re.M), re.compile(r"(?<=\])\([^)\s]*\)"))
NEW_BLOCK = re.compile(r"^\s*(?:[-*] |\d+\. |$)")


def blank(text):
    """As many lines without text."""
    return re.sub(r"[^\n]", " ", text)


def lines_of_page(text):
    """The text of a page without its code and headings. A cell of a table is a paragraph."""
    for pattern in NOT_PROSE:
        text = pattern.sub(lambda match: blank(match[0]), text)
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield from ((number, ""), (number, cell))
        else:
            yield number, re.sub(r"</?\w+[^>]*>", " ", line).replace("**", "").lstrip("> ")


def lines_of_c(text):
    last = 0
    for match in C_TOKEN.finditer(text):
        if not (match[1] or match[2]):
            continue
        number = text.count("\n", 0, match.start()) + 1
        alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        if not alone or number != last + 1:
            yield number, ""
        for offset, line in enumerate(match[0].split("\n")):
            last = number + offset
            yield last, re.sub(r"^\s*(?:/\*+|//[/!]?<?|\*+/?)|\*/$|\\(?:file|param|throws)\b", "", line)
        if not alone:
            yield last, ""


def lines_of_python(text):
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[:token.start[1]].strip()
            if not alone or token.start[0] != last + 1:
                yield token.start[0], ""
            last = token.start[0]
            yield last, token.string.lstrip("# ")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            first = node.body[0].lineno
            yield first, ""
            for offset, line in enumerate(ast.get_docstring(node, clean=False).split("\n")):
                yield first + offset, line


def lines_of_script(text):
    last = 0
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"^(\s*|[^#\"']*\s)#+ (.*)$", line)
        if match:
            if match[1].strip() or number != last + 1:
                yield number, ""
            last = number
            yield number, match[2]


def lines_of(path):
    text = path.read_text()
    if path.suffix == ".md":
        return lines_of_page(text)
    if path.suffix in C_SUFFIXES:
        return lines_of_c(text)
    return lines_of_python(text) if path.suffix == ".py" else lines_of_script(text)


def paragraphs(lines):
    """Joins lines until one is empty or begins an item: (text, the line of each character)."""
    text, numbers = "", []
    for number, line in lines:
        if NEW_BLOCK.match(line) and text:
            yield text, numbers
            text, numbers = "", []
        line = re.sub(r"^\s*(?:[-*] |\d+\. )?", "", line).rstrip()
        if line:
            line = " " * bool(text) + line
            text += line
            numbers += [number] * len(line)
    if text:
        yield text, numbers


def sentence_around(text, start, end):
    begin = max((text.rfind(mark, 0, start) + 2 for mark in (". ", "? ", "! ")
                 if text.rfind(mark, 0, start) >= 0), default=0)
    stop = re.compile(r"[.?!](?= |$)").search(text, max(start, end - 1))
    return text[begin:stop.end() if stop else len(text)].strip()


def faults_of(path, name=None):
    faults = []
    for text, numbers in paragraphs(lines_of(path)):
        plain = re.sub(r"`[^`]*`|(?<!\w)\"[^\"]*\"", lambda match: "`" * len(match[0]), text)
        for form, pattern, advice in FORMS:
            for match in pattern.finditer(plain):
                faults.append(f"{name or path}:{numbers[match.start()]}: like `{form}`: "
                              f"{sentence_around(text, match.start(), match.end())}\n    {advice}")
    return faults


# --- The check of the check ---

BAD = {
    "page.md": ["There is a block a row.", "It has 256 threads a block.", "With 16 bytes a lane, it is fast.",
                "Two loads keep\nfew bytes under way.", "The loads ask for the row.",
                "Bytes asked for count.", "The kernel lies in a file.", "It is mended.",
                "- an item\n- It reads behind the end.",
                "First. Who copies must wait.", "What is loaded stays.", "| a | What the stage does. |",
                "Of the lanes, two load.", "So this difference is none.", "Read as many arrays as you like.",
                "It is the sum less the mean."],
    "code.cu": ["int a;  // 4 elements a thread", "/// \\file\n/// What the\n/// device counts.\n",
                "/* A warp a\n   row. */", 'f("x");  // seldom', "a = \"//\";  // anew"],
    "code.py": ['"""What a stage does."""', "# Of the two,\n# one is right.\n", "x = 1  # a warp a row",
                'def f():\n    """It is first.\n\n    Who waits is last.\n    """\n'],
    "CMakeLists.txt": ["set(a b) # mended", "# Done.\n# What is built\n# is kept."],
}
GOOD = {
    "page.md": ["There is one block per row.", "What is a warp? It is 32 lanes.", "`mended` is a name.",
                "# What is counted\n\nBytes.", "```text\na block a row\n```", "<!-- a block a row -->",
                "The program asks for a number.", "Of course it is.", "It says \"a warp a row\".",
                "This page lies.", "Twice as many rows as columns.", "The proof behind it.",
                "- What it does:",
                "Those two store a number for each row.", "There is none.", "    a block a row"],
    "code.cu": ['const char* a = "a block a row";', "int mended;  // a name", "a = '\"';  // \"x\"",
                "// It is a block.\n// A row is next."],
    "code.py": ['A = "a block a row"', "# What is wrong here?", 'def f():\n    return """What it is."""'],
    "CMakeLists.txt": ['set(a "# mended")'],
}


def check_itself():
    with tempfile.TemporaryDirectory() as folder:
        for texts, wanted in ((BAD, 1), (GOOD, 0)):
            for name, examples in texts.items():
                for example in examples:
                    path = pathlib.Path(folder) / name
                    path.write_text(example)
                    found = faults_of(path)
                    if len(found) != wanted:
                        expect(f"{wanted} found in {example!r}", False, "\n".join(found))
        path = pathlib.Path(folder) / "page.md"
        missed = {form for form, *_ in FORMS} - set(forms_in(path, BAD["page.md"]))
        expect("every form is found in bad examples, and none in good ones", not missed, missed)
        path.write_text("# A page\n\nOne line.\nIt is long. It has\na block a row, no more. The end.\n")
        found = faults_of(path, "page.md")
        wanted = "page.md:5: like `a block a row`: It has a block a row, no more.\n    write "
        right = len(found) == 1 and found[0].startswith(wanted)
        expect("the message has the line and the sentence", right, found)


def forms_in(path, examples):
    for example in examples:
        path.write_text(example)
        yield from (re.search("like `(.*?)`", fault)[1] for fault in faults_of(path))


def files_of_the_tree():
    """All but the readers' exercises; those are made from the solutions."""
    files = [path for top in TOPS for path in sorted((ROOT / top).rglob("*"))
             if path.suffix in SUFFIXES and "exercises" not in path.parts]
    return files + sorted(ROOT.glob("*.md")) + [path for script in SCRIPTS for path in ROOT.glob(script)]


def main():
    if len(sys.argv) > 1:
        faults = [fault for name in sys.argv[1:] for fault in faults_of(pathlib.Path(name))]
        sys.exit("\n".join(faults) if faults else 0)
    check_itself()
    files = files_of_the_tree()
    faults = [fault for path in files for fault in faults_of(path, path.relative_to(ROOT))]
    expect(f"pages and comments of {len(files)} files are plain", len(files) > 300 and not faults,
           "\n".join(faults) + f"\n{len(faults)} sentences to rewrite")


main()
