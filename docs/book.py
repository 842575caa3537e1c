"""Builds the book from the pages in docs/ with Doxygen: build/docs/html/index.html.

    python3 docs/book.py build

The pages are written for GitHub. Doxygen gets copies of them in which every heading has a name, links between
pages lead to those names, links to code lead to the reference, and each page ends with the next one's title.
docs/update.py renews what the pages quote.
"""

import fcntl
import html
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree
from xml.sax.saxutils import quoteattr

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STYLES = ["doxygen-awesome.css", "doxygen-awesome-sidebar-only.css",
          "doxygen-awesome-sidebar-only-darkmode-toggle.css"]
SCRIPTS = {"doxygen-awesome-darkmode-toggle.js": "DoxygenAwesomeDarkModeToggle",
           "doxygen-awesome-fragment-copy-button.js": "DoxygenAwesomeFragmentCopyButton",
           "doxygen-awesome-paragraph-link.js": "DoxygenAwesomeParagraphLink",
           "doxygen-awesome-interactive-toc.js": "DoxygenAwesomeInteractiveToc"}

# The order of the book: pages of docs/, or groups of them. A pattern is all pages that match, sorted by name.
ORDER = [
    "fusion.md",
    "usage.md",
    ("Chapters", ["[0-9][0-9]_*.md"]),
    ("Concepts", ["tables.md", "play.md", "any_file.md", "findings.md", "view.md", "threads.md",
                  "memory.md", "cpu_device.md", "measuring.md", "ncu.md", "profile.md", "choosing.md",
                  "model_against_machine.md", "two_cards.md", "claims.md", "exact_division.md",
                  "row_clusters.md", "stream_k.md", "linear_gelu_measured.md",
                  "tensor_cores_measured.md", "attention_hopper.md", "pytorch_models.md", "further.md"]),
    ("Reference", ["glossary.md", "reference.md", "supported_cuda.md", "json.md", "licences.md",
                   "../CHANGELOG.md"]),
    ("Adding to it", ["../CONTRIBUTING.md", "adding_*.md"]),
]

FENCED = re.compile(r"(^```.*?^```$)", re.S | re.M)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?)$", re.M)
SOURCES = (".hpp", ".cuh")
GLOSSARY = DOCS / "glossary.md"
ENTRY = re.compile(r"^\| (?!(?:word|name|column) \||---)(.+?) \| (.+?)(?: \((\[[^]]*\]\([^)\s]+\))\))? \|$",
                   re.M)  # a row of it: | word, another spelling | a sentence ([page](file.md#anchor)) |


class Wrong(Exception):
    """A page that the book cannot be made from."""


def slug(title, seen):
    """The anchor that GitHub gives a heading; `seen` holds those that the page has so far."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
    name, number = base, 0
    while name in seen:
        number += 1
        name = f"{base}-{number}"
    seen.add(name)
    return name


def outside_code(text, change):
    """`text` with `change` applied to what is not in a fenced block."""
    parts = FENCED.split(text)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def with_folds(text):
    """`text` with its folds as HTML that Doxygen leaves alone: it would end them at their first paragraph."""
    text = re.sub(r"<details>\s*<summary>(.*?)</summary>",
                  r"\n\\htmlonly[block]\n<details><summary>\1</summary>\n\\endhtmlonly\n\n", text, flags=re.S)
    return text.replace("</details>", "\n\\htmlonly[block]\n</details>\n\\endhtmlonly\n")


def without_comments(path):
    """A page without the marks of its quotations; those that are shown as code are indented."""
    return re.sub(r"^<!--.*?-->\n*", "", path.read_text(), flags=re.S | re.M)


def anchors(path):
    """The anchors of the headings of a page."""
    seen = set()
    outside_code(path.read_text(), lambda part: HEADING.sub(lambda match: slug(match[2], seen), part))
    return seen


def title(path):
    """The first heading of a page, without marks."""
    first = HEADING.search(path.read_text())
    if not first or first[1] != "#":
        raise Wrong(f"{path.relative_to(ROOT)}: a page begins with a heading of one #")
    return first[2].replace("`", "")


def short_title(path):
    """What stands in the tree: the title up to a colon."""
    return title(path).split(":")[0]


def name_of(path):
    """The name of a page in the book; Doxygen wants a letter in front."""
    return f"page_{path.stem.lower()}"


def entries_of(glossary):
    """The rows of a glossary's tables: (words, what it says of them, link, anchor in the book)."""
    seen = set()
    rows = []
    for cell, meaning, where in ENTRY.findall(glossary):
        words = cell.replace("`", "").split(", ")
        rows.append((words, meaning, where, f"page_glossary--entry-{slug(words[0], seen)}"))
    return rows


def with_anchors(glossary):
    """A glossary whose rows have the anchors of entries_of()."""
    names = iter([anchor for *_, anchor in entries_of(glossary)])
    return ENTRY.sub(lambda row: rf"| \anchor {next(names)} {row[0].removeprefix('| ')}", glossary)


def pages_of(patterns):
    """The pages that are there; a pattern with a * may match none."""
    found = []
    for pattern in patterns:
        paths = sorted(DOCS.glob(pattern)) if "*" in pattern else [DOCS / pattern]
        paths = [path.resolve() for path in paths]
        for path in paths:
            if not path.exists():
                raise Wrong(f"docs/{pattern} is in the order of docs/book.py and is not there")
        found += paths
    return found


def pages_in(entries):
    """All pages of the tree, in order."""
    return [page for entry in entries for page in ([entry] if isinstance(entry, pathlib.Path) else entry[1])]


def order():
    """Entries of the tree: a page, or the title of a group with its pages."""
    entries = [pages_of([entry])[0] if isinstance(entry, str) else (entry[0], pages_of(entry[1]))
               for entry in ORDER]
    missing = sorted(path.name for path in set(DOCS.glob("*.md")) - set(pages_in(entries)))
    if missing:
        raise Wrong(f"{', '.join(missing)}: in docs/ and not in the order of docs/book.py")
    return entries


def order_titles():
    """The titles of the tree from top to bottom, groups before their pages."""
    titles = []
    for entry in order():
        if isinstance(entry, pathlib.Path):
            titles.append(short_title(entry))
        else:
            titles += [entry[0], *map(short_title, entry[1])]
    return titles


class Book:
    def __init__(self, build, style_folder):
        self.theme = style_folder
        self.out = build / "docs"
        self.entries = order()
        self.pages = pages_in(self.entries)
        self.copied = set()  # files that are neither pages nor code, to be put beside the pages

    def link(self, page, match):
        """A link of `page` as Doxygen wants it."""
        image, text, target = match.groups()
        text = " ".join(text.split())  # Doxygen loses headings behind a link of two lines
        if re.match(r"[a-z]+:", target):
            return match[0]
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            raise Wrong(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")
        if image:
            self.copied.add(file)
            narrow = file.parent / "narrow" / f"{file.stem}_narrow.svg"
            on_phones = ""
            if narrow.exists():
                self.copied.add(narrow)
                on_phones = f' data-narrow="{narrow.name}"'
            return f'<img src="{file.name}" alt="{html.escape(text)}"{on_phones}/>'
        text = text.replace("`", "")  # Doxygen would show them in a link to a page
        if file == ROOT / "README.md":
            return f"[{text}](index.html{'#' + anchor if anchor else ''})"
        if file in self.pages:
            return f"[{text}](@ref {name_of(file)}{'--' + anchor if anchor else ''})"
        if file.suffix in SOURCES:
            return f"[{text}](@ref {file.relative_to(ROOT)})"
        if file.is_dir():
            raise Wrong(f"{page.relative_to(ROOT)}: {target} is a folder, which the book has no page for")
        self.copied.add(file)
        return f"[{text}]({file.name})"

    def named_headings(self, page, text):
        seen = set()

        def named(match):
            marks, words = match.groups()
            anchor = slug(words, seen)
            if marks == "#":
                return f"# {words} {{#{name_of(page)}}}\n\n[TOC]"
            return f"{marks} {words} {{#{name_of(page)}--{anchor}}}"

        return outside_code(text, lambda part: HEADING.sub(named, part))

    def converted(self, page):
        text = without_comments(page)
        if page == GLOSSARY:
            text = with_anchors(text)
        text = outside_code(text, lambda part: LINK.sub(lambda match: self.link(page, match), part))
        text = outside_code(text, with_folds)
        return self.named_headings(page, text)

    def front_page(self):
        """The README. Its headings become HTML, because Doxygen would list Markdown's among the chapters."""
        page = self.converted(ROOT / "README.md")
        page = re.sub(r"\{#page_readme\}\n\n\[TOC\]", "{#mainpage}", page)
        return re.sub(r"^## (.*) \{#page_readme--(.*)\}$", r'<h1 id="\2">\1</h1>', page, flags=re.M)

    def write_pages(self):
        folder = self.out / "pages"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "README.md").write_text(self.front_page())
        for page, following in zip(self.pages, [*self.pages[1:], None]):
            text = self.converted(page)
            if following:
                text += f"\n---\n\nNext: [{title(following)}](@ref {name_of(following)})\n"
            (folder / page.name).write_text(text)

    def write_layout(self):
        """Doxygen's own layout with our order in place of its entries of the navigation."""
        def tab(page):
            return f'<tab type="user" url="@ref {name_of(page)}" title={quoteattr(short_title(page))}/>'

        rows = ['<tab type="mainpage" title="Kernel Fusion Workbook"/>']
        for entry in self.entries:
            if isinstance(entry, pathlib.Path):
                rows.append(tab(entry))
                continue
            inner = [tab(page) for page in entry[1]]
            if entry[0] == "Reference":
                inner += ['<tab type="filelist" title="Files of common/, cpu_device/, play/ and chapters/"/>',
                          '<tab type="namespacemembers" title="Names in them"/>']
            rows += [f'<tab type="usergroup" url="[none]" title="{entry[0]}">', *inner, "</tab>"]
        layout = self.out / "layout.xml"
        run("doxygen", "-l", layout)
        new = re.sub(r"<navindex>.*</navindex>", lambda _: "<navindex>\n" + "\n".join(rows) + "\n</navindex>",
                     layout.read_text(), flags=re.S)
        layout.write_text(new)

    def write_header(self):
        """Doxygen's own page header with the theme's scripts."""
        header = self.out / "header.html"
        run("doxygen", "-w", "html", header, self.out / "footer.html", self.out / "unused.css")
        scripts = "".join(f'<script type="text/javascript" src="$relpath^{file}"></script>\n'
                          f'<script type="text/javascript">{name}.init()</script>\n'
                          for file, name in SCRIPTS.items())
        text = header.read_text().replace("<html xmlns", '<html lang="en" xmlns', 1)
        scripts += "".join(f'<script type="text/javascript" src="$relpath^{file}"></script>\n'
                           for file in ("search_data.js", "book.js"))
        header.write_text(text.replace("</head>", scripts + "</head>", 1))

    def run_doxygen(self):
        shutil.rmtree(self.out / "html", ignore_errors=True)
        lists = {
            "OUTPUT_DIRECTORY": [self.out],
            "LAYOUT_FILE": [self.out / "layout.xml"],
            "HTML_HEADER": [self.out / "header.html"],
            "HTML_EXTRA_STYLESHEET": [*(self.theme / style for style in STYLES), DOCS / "book.css"],
            "HTML_EXTRA_FILES": [*(self.theme / script for script in SCRIPTS), DOCS / "book.js",
                                 *sorted(self.copied)],
            "INPUT": [self.out / "pages",
                      *(ROOT / name for name in ("common", "cpu_device", "play", "chapters"))],
            "GENERATE_TAGFILE": [self.out / "names.xml"],
            "STRIP_FROM_PATH": [ROOT, self.out / "pages"],
        }
        lines = [" ".join([key, "=", *(f'"{value}"' for value in values)]) for key, values in lists.items()]
        doxyfile = self.out / "Doxyfile"
        doxyfile.write_text((DOCS / "Doxyfile").read_text() + "\n".join(lines) + "\n")
        run("doxygen", doxyfile)

    def write_search(self):
        """What docs/book.js searches: the sections of the pages, then the names of the reference."""
        sections = [section for page in [ROOT / "README.md", *self.pages] for section in self.sections(page)]
        sections += self.glossary()
        for compound in xml.etree.ElementTree.parse(self.out / "names.xml").iter("compound"):
            if compound.get("kind") != "page":
                sections += self.names(compound)
        script = f"const BOOK_SECTIONS = {json.dumps(sections, indent=0)};\n"
        (self.out / "html" / "search_data.js").write_text(script)

    def sections(self, page):
        """The text under each heading of a page."""
        front = page.name == "README.md"
        file = "index.html" if front else f"{name_of(page)}.html"
        found, seen = [], set()

        def begin(match):
            anchor = slug(match[2], seen)
            where = "" if not found else f"#{anchor}" if front else f"#{name_of(page)}--{anchor}"
            heading = match[2].replace("`", "")
            found.append({"heading": heading, "page": title(page), "href": file + where, "text": ""})
            return "\0"

        text = without_comments(page)
        if page == GLOSSARY:  # its rows are found one by one
            text = ENTRY.sub("", text)
        text = outside_code(text, lambda part: HEADING.sub(begin, part))
        for section, under in zip(found, text.split("\0")[1:]):
            plain = re.sub(r"^```\w*$|^\|[-| ]+\|$", "", LINK.sub(r"\2", under), flags=re.M)
            section["text"] = " ".join(re.sub(r"[`*|]", " ", plain).split())
        return found

    def glossary(self):
        """The entries of the glossary. A search for one of the `words` puts the entry first."""
        return [{"heading": ", ".join(words), "page": title(GLOSSARY), "href": f"page_glossary.html#{anchor}",
                 "text": re.sub("[`*]", "", meaning),
                 "words": [word.lower() for word in words]}
                for words, meaning, _, anchor in entries_of(without_comments(GLOSSARY))]

    def names(self, compound):
        found = [(compound, compound.findtext("filename"))]
        found += [(member, f"{member.findtext('anchorfile')}#{member.findtext('anchor')}")
                  for member in compound.iter("member")]
        return [{"heading": one.findtext("name"), "page": compound.findtext("name"), "href": href, "text": ""}
                for one, href in found]


def theme():
    """The folder of doxygen-awesome-css; None where it is not found."""
    if not shutil.which("cmake"):
        return None
    script = ROOT / "cmake" / "FindTheme.cmake"
    found = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
    return pathlib.Path(found.stdout.strip()) if found.stdout.strip() else None


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}".rstrip())


def end(status, message):
    print(message, file=sys.stderr)
    sys.exit(status)


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        end(2, "usage: ./workbook docs, or python3 docs/book.py BUILD_FOLDER")
    style_folder = theme()
    if not style_folder:
        end(3, "docs: doxygen-awesome-css or CMake, which finds it, is missing (Debian: apt-get install\n"
               "      doxygen-awesome-css cmake; elsewhere, CMAKE_PREFIX_PATH can name its folder)")
    try:
        book = Book(pathlib.Path(sys.argv[1]).resolve(), style_folder)
        book.out.mkdir(parents=True, exist_ok=True)
        with open(book.out / "lock", "w") as lock:  # until the file is closed
            wait_for(lock)
            build(book)
    except Wrong as wrong:
        sys.exit(f"docs: {wrong}")
    except OSError as error:
        end(3, f"docs: {error.filename or sys.argv[1]}: {error.strerror}")
    print(f"The book: {book.out / 'html' / 'index.html'}")


def build(book):
    book.write_pages()
    book.write_layout()
    book.write_header()
    book.run_doxygen()
    book.write_search()


def wait_for(lock):
    """Waits until no other program holds the lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("docs: the book is being built in another terminal; waiting for it ...", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)


if __name__ == "__main__":
    main()
