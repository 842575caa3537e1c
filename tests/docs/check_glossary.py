"""The glossary: it has what the lessons 00 to 03 use of CUDA and every column of the tables, and each of its
links leads to a place that mentions the word."""

import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

sys.path.insert(0, str(ROOT / "docs"))
import book

GLOSSARY = ROOT / "docs" / "glossary.md"

# Names that are new to a reader who knows C++, or easily misread.
FOREIGN = re.compile(r"""
    \b__\w+                                                           # __device__, __ldg
  | \b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b              # variables that are always there
  | \bdim3\b | \b(?:make_)?u?(?:char|short|int|long|longlong|float|double)[1-4]\b
  | \b(?:cuda|atomic)[A-Z]\w* | \bcub::\w+                            # functions of CUDA and its libraries
  | \b(?!sizeof|if)[a-z][a-z0-9]*f(?=\()                             # expf
  | \#pragma\ \w+
  | \b(?:reinterpret_cast|static_cast|constexpr|decltype|uintptr_t|size_t)\b
  | \bclass\.\.\.                                                     # a pack of types
  | \b0x[0-9a-f]+u\b | \b0x1p-?\d+f?\b                                # a mask; a power of two
  | <<<
  | \b(?:DEVICE|ceil_div|vector_threads|dynamic_shared|launch_shared|launch_dependent)\b              # ours
  | \blaunch(?=\()
""", re.X)

# One entry for all spellings of a kind.
ENTRY_OF = [(r"<<<", "<<<>>>"), (r"0x1p.*", "0x1p60f"), (r"make_\w+", "make_float4"),
            (r"(?:thread|block)Idx|(?:block|grid)Dim", r"\g<0>.x")]

QUOTED = re.compile(r"^<!-- code: .*?-->\n+```cpp\n(.*?)^```$", re.S | re.M)
INDENTED = re.compile(r"^    .+$", re.M)
FENCED = re.compile(r"^```.*?^```$", re.S | re.M)
INLINE = re.compile(r"`([^`\n]+)`")


def code_of(text):
    """The code of a page: quoted blocks, indented lines, and what stands between backticks."""
    outside = FENCED.sub("", text)
    parts = QUOTED.findall(text) + INDENTED.findall(outside) + INLINE.findall(outside)
    return "\n".join(parts)


def entry_of(name):
    for pattern, entry in ENTRY_OF:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, entry, name)
    return name


def foreign_names(text):
    return sorted({entry_of(name) for name in FOREIGN.findall(code_of(text))})


def missing_names(text, entries):
    words = {word for words, *_ in entries for word in words}
    return [name for name in foreign_names(text) if name not in words]


# --- Columns ---

TABLE = re.compile(r"Table table\((.*?)\);", re.S)
STRING = re.compile(r'"([^"]*)"')
HYPHENATED = {"structions": "instructions", "wave-": "wavefronts", "fronts": "wavefronts"}
FIELD = re.compile(r'at\("\w+"\)')  # of JSON


def tokens(heading):
    plain = re.sub(r"\{.*|\(.*\)", "", heading).lower()
    return [HYPHENATED.get(token, token) for token in re.findall(r"[\w/-]+", plain)]


def columns_of_programs():
    """The headings of the tables that the programs print."""
    files = [file for top in ("cli", "common", "play") for file in sorted((ROOT / top).rglob("*.cpp"))]
    return [heading for file in files for table in TABLE.findall(file.read_text())
            for heading in STRING.findall(FIELD.sub("", table))]


def columns_of_pages(pages):
    """The headings of the tables that the pages quote, as far as they begin with the stage's name."""
    return [line for page in pages for block in re.findall(r"^```text\n(.*?)^```", page, re.S | re.M)
            for line in block.splitlines() if line.startswith("stage ")]


def missing_columns(headings, glossary):
    columns = glossary.partition("\n## Columns of the tables\n")[2]
    known = {token for words, *_ in book.entries_of(columns) for word in words for token in tokens(word)}
    return [f"{token} (of {heading.strip()})" for heading in headings for token in tokens(heading)
            if token not in known]


NUMBERED = re.compile(r"^```text\n(?:.*\n)*?(stage .*)\n *(\(1\).*)\n(?:.*\n)*?```\n\n"
                      r"((?:\d+\. .*\n(?: .*\n)*)+)", re.M)


def unexplained_numbers(page):
    """The numbered columns of a page's tables whose item in the list below the table does not name them."""
    wrong = []
    for headings, numbers, items in NUMBERED.findall(page):
        columns = re.findall(r"\S+(?: \S+)*", headings)
        named = [item.lower() for item in re.findall(r"^\d+\. \*\*(.*?)\*\*", items, re.M)]
        if not len(columns) == len(named) == len(numbers.split()):
            wrong.append(f"{len(columns)} columns, {len(named)} items")
        for column, name in zip(columns, named):
            if column.lower() not in name:
                wrong.append(f"{column} is called {name}")
    return wrong


# --- Links ---


def section_at(file, anchor):
    """The text under a heading, up to the next one of the same level or a higher one."""
    text = file.read_text()
    if not anchor:
        return text
    seen, found = set(), []

    def look(match):
        found.append((len(match[1]), book.slug(match[2], seen)))
        return f"\0{match[0]}"

    parts = book.outside_code(text, lambda part: book.HEADING.sub(look, part)).split("\0")[1:]
    at = [name for _, name in found].index(anchor)
    end = at + 1
    while end < len(found) and found[end][0] > found[at][0]:
        end += 1
    return "".join(parts[at:end])


def mentions(text, word):
    plain = " ".join(re.sub(r"[`|]", " ", text).split()).lower()
    beginning = r"(?<!\w)" if re.match(r"\w", word) else ""
    return re.search(beginning + re.escape(word.lower()), plain)


def links_in_vain(glossary, folder):
    """Links of entries to places that do not mention the entry's first word."""
    faults = []
    for words, _, where, _ in book.entries_of(glossary):
        if not where:
            faults.append(f"{words[0]}: no link at its end")
            continue
        path, _, anchor = book.LINK.match(where)[3].partition("#")
        if not mentions(section_at(folder / path, anchor), words[0]):
            faults.append(f"{words[0]}: {where} does not mention it")
    return faults


# --- The checks ---


def expect_none(what, faults):
    expect(what, not faults, "\n".join(faults))


def check_checker():
    """The checks find the faults that they are for."""
    page = ("# A page\n\nWith `__ldcs` in it.\n\n    f<<<1, 32>>>(0x1p3f);\n\n"
            "<!-- code: a.cuh -->\n\n```cpp\n__device__ float4 f(uint4 x) { return make_char4(expf(x.x)); }\n"
            "#pragma unroll 4\n```\n\n```text\nstage  newest\n__nothing\n```\n")
    entries = book.entries_of("| word | what |\n| --- | --- |\n"
                              "| `__device__` | x ([a](page.md)) |\n| `uint4`, `expf` | x ([a](page.md)) |\n")
    wanted = ["#pragma unroll", "0x1p60f", "<<<>>>", "__ldcs", "float4", "make_float4"]
    found = missing_names(page, entries)
    expect("names that are missing in a glossary are found", found == wanted, found)
    glossary = ("\n## Columns of the tables\n\n"
                "| column | what |\n| --- | --- |\n| stage | x |\n")
    found = missing_columns(columns_of_pages([page]), glossary)
    expect("a column that is missing in it is found", found == ["newest (of stage  newest)"], found)
    glossary = ("| here | x ([a](page.md#one)) |\n| there | x ([a](page.md#one)) |\n| nowhere | x |\n"
                "| ere | x ([a](page.md)) |\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "page.md").write_text("# Page\n\n## One\n\nHere.\n\n## Two\n\nThere.\n")
        found = links_in_vain(glossary, folder)
    expect("links to places that do not mention the word are found",
           [fault.split(":")[0] for fault in found] == ["there", "nowhere", "ere"], found)
    page = ("```text\nstage  us  all bytes\n(1)   (2)    (3)\n1_x     7  8\n```\n\n"
            "1. **stage**: x\n2. **bytes**: x\n   y\n")
    found = unexplained_numbers(page)
    expect("numbered columns that are not explained are found",
           found == ["3 columns, 2 items", "us is called bytes"], found)


def main():
    check_checker()
    glossary = GLOSSARY.read_text()
    entries = book.entries_of(glossary)
    lessons = [path.read_text() for path in sorted((ROOT / "docs").glob("0[0-3]_*.md"))]
    names = foreign_names("\n".join(lessons))
    expect("four lessons, with names to explain", len(lessons) == 4 and len(names) > 40, names)
    expect_none(f"the glossary has all {len(names)} names that the lessons 00 to 03 use",
                missing_names("\n".join(lessons), entries))
    headings = columns_of_programs() + columns_of_pages(lessons)
    expect("programs and pages have tables", len(headings) > 60, headings)
    expect_none("the glossary has all columns of the tables", missing_columns(headings, glossary))
    tables = (ROOT / "docs" / "tables.md").read_text()
    expect("the page about tables has two with numbers", len(NUMBERED.findall(tables)) == 2)
    expect_none("... and explains each of their columns", unexplained_numbers(tables))
    expect_none(f"the links of {len(entries)} entries lead to places that mention the word",
                links_in_vain(glossary, ROOT / "docs"))


main()
