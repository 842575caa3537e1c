"""The book: the links of its pages, on GitHub and as Doxygen has built them, and the order of the pages.

    python3 tests/docs/check_book.py FOLDER    builds it there; tests/docs/check_site.py opens it in a browser
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest.mock
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, expect_refused, skip

sys.path.insert(0, str(ROOT / "docs"))
import book


def markdown_faults(page):
    """Links of a page that lead nowhere on GitHub."""
    faults = []

    def look(match):
        target = match[3]
        if re.match(r"[a-z]+:", target):
            return match[0]
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            faults.append(f"{page.name}: {target}: there is no such file")
        elif anchor and anchor not in book.anchors(file):
            faults.append(f"{page.name}: {target}: there is no such heading")
        elif match[1] and not match[2].strip():
            faults.append(f"{page.name}: {target}: an image needs a text for those who do not see it")
        elif match[1] and file.stat().st_size == 0:
            faults.append(f"{page.name}: {target}: the image is empty")
        return match[0]

    book.outside_code(page.read_text(), lambda part: book.LINK.sub(look, part))
    return faults


class Page(html.parser.HTMLParser):
    """The targets of a built page's links, and the anchors that it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def html_faults(folder):
    """Links of built pages that lead nowhere, or away from this machine for something that the page needs."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"(https?|mailto|javascript):", link):
                continue
            target, _, anchor = link.partition("#")
            file = (path.parent / urllib.parse.unquote(target)).resolve() if target else path
            if not file.exists():
                faults.append(f"{path.name}: {link}: there is no such file")
            elif anchor and file in pages and urllib.parse.unquote(anchor) not in pages[file].anchors:
                faults.append(f"{path.name}: {link}: there is no such anchor")
    return faults, len(pages), sum(len(page.links) for page in pages.values())


def loaded_from_elsewhere(folder):
    """Scripts, style sheets, fonts and images that a page would fetch from the net."""
    wanted = re.compile(r"""<(?:script|img)\b[^>]*\bsrc=["']?(https?:)?//"""
                        r"""|<link\b[^>]*\bhref=["'](https?:)?//|url\(["']?https?:|@import\s+["']http""")
    return [f"{path.name}: fetches something from the net"
            for suffix in ("html", "css") for path in folder.rglob(f"*.{suffix}")
            if wanted.search(path.read_text(errors="replace"))]


def has_code(markdown):
    return "```" in markdown or re.search(r"^    \S", markdown, re.M) is not None


def fold_faults(page, built):
    """Folds of a Markdown page that the built page does not have, or whose code block is outside of them."""
    folds = re.findall(r"^<details>.*?^</details>", page.read_text(), re.S | re.M)
    built_folds = re.findall(r"<details>.*?</details>", built.read_text(), re.S)
    if len(folds) != len(built_folds):
        return [f"{page.name}: {len(folds)} folds, and {len(built_folds)} where it is built"]
    return [f"{page.name}: the fold {fold.splitlines()[0]} has lost its code block"
            for fold, html in zip(folds, built_folds) if has_code(fold) != ('class="fragment"' in html)]


def menu(folder):
    """Titles of the navigation, groups before their pages."""
    text = (folder / "menudata.js").read_text()
    titles = []

    def walk(entries):
        for entry in entries:
            titles.append(entry["text"])
            walk(entry.get("children", []))

    data = text[text.index("var menudata=") + len("var menudata="):]
    walk(json.loads(re.sub(r"\b(text|url|children):", r'"\1":', data.rstrip().rstrip(";")))["children"])
    return titles


def expect_none(what, faults):
    expect(what, not faults, "\n".join(faults))


def check_checker():
    """The checks find the faults that they are for."""
    with tempfile.TemporaryDirectory() as temporary:
        page = pathlib.Path(temporary) / "page.md"
        page.write_text("# A page\n\n[a](#a-page) [b](#nothing) [c](nowhere.md)\n\n"
                        "```text\n[d](not_a_link)\n```\n")
        found = [fault.split(": ")[1] for fault in markdown_faults(page)]
        expect("dead links of a Markdown page are found", found == ["#nothing", "nowhere.md"], found)
    with tempfile.TemporaryDirectory() as temporary:
        page = pathlib.Path(temporary) / "page.html"
        page.write_text('<p id="here"><a href="#here">a</a><a href="#there">b</a><img src="no.png"/></p>'
                        '<script src="https://elsewhere/x.js"></script>')
        found = [fault.split(": ")[1] for fault in html_faults(page.parent)[0]]
        expect("dead links of a built page are found", found == ["#there", "no.png"], found)
        expect("a script from the net is found", loaded_from_elsewhere(page.parent))
    with tempfile.TemporaryDirectory() as temporary:
        page, built = (pathlib.Path(temporary) / name for name in ("page.md", "page.html"))
        fold = "<details><summary>a</summary>\n\n```text\nb\n```\n\n</details>\n"
        page.write_text(fold)
        built.write_text('<details>a</details><div class="fragment">b</div>')
        expect("a code block outside of its fold is found", len(fold_faults(page, built)) == 1)
        built.write_text('a<div class="fragment">b</div>')
        expect("a fold that is lost is found", len(fold_faults(page, built)) == 1)
        kept = book.with_folds(fold)
        expect("a fold is kept together", kept.count("\\htmlonly") == 2 and "```text\nb\n```" in kept, kept)


def build_book(folder):
    """The book where it cannot be written, interrupted, and twice at once: one line, and no traceback. It is
    left there.
    """
    script = ROOT / "docs" / "book.py"
    expect_refused("a build folder that is a file", script, [ROOT / "README.md"], 3, "Not a directory")
    expect_refused("a build folder that cannot be made", script, ["/proc/no/folder"], 3, "/proc/no")
    expect_refused("no folder", script, [], 2, "usage: ")

    def start():
        return subprocess.Popen([sys.executable, script, folder], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.PIPE, start_new_session=True)

    def started():
        """One that has written the first page."""
        shutil.rmtree(folder, ignore_errors=True)
        process = start()
        while not (folder / "docs" / "pages" / "README.md").exists():
            time.sleep(0.05)
        return process

    interrupted = started()
    os.killpg(interrupted.pid, signal.SIGINT)
    errors = interrupted.communicate()[1]
    expect("Ctrl-C ends it without a traceback", interrupted.returncode == -signal.SIGINT and not errors,
           errors)

    first = started()
    second = start()
    waits = second.stderr.readline()
    expect("a second one says that it waits", "another terminal; waiting for it" in waits, waits)
    for number, one in ((1, first), (2, second)):
        errors = one.communicate()[1]
        expect(f"book {number} of two at once is built, without a warning of Doxygen's",
               one.returncode == 0 and not errors, errors)


def main():
    check_checker()
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    faults = [fault for page in pages for fault in markdown_faults(page)]
    expect_none(f"the links of {len(pages)} Markdown pages", faults)

    if not shutil.which("doxygen") or not book.theme():
        skip("the built book: there is no Doxygen with doxygen-awesome-css")
    with tempfile.TemporaryDirectory() as temporary:
        elsewhere = pathlib.Path(temporary) / "a prefix" / "share" / "doxygen-awesome-css"
        shutil.copytree(book.theme(), elsewhere)
        with unittest.mock.patch.dict(os.environ, CMAKE_PREFIX_PATH=str(elsewhere.parents[1])):
            expect("the theme is found by CMAKE_PREFIX_PATH", book.theme() == elsewhere, book.theme())

    build = pathlib.Path(sys.argv[1])
    build_book(build)
    folder = build / "docs" / "html"
    faults, pages, links = html_faults(folder)
    expect_none(f"{links} links of {pages} built pages", faults)
    expect_none("nothing is fetched from the net", loaded_from_elsewhere(folder))
    expect_none("folds hold what they do on GitHub",
                [fault for page in sorted((ROOT / "docs").glob("*.md"))
                 for fault in fold_faults(page, folder / f"{book.name_of(page)}.html")])
    titles = menu(folder)[1:]
    wanted = book.order_titles()
    expect("the pages are in order", [title for title in titles if title in wanted] == wanted, titles)


main()
