"""The book in a browser: four pages on a phone's and a desk's width, light and dark; search, navigation,
figures and predictions.

    python3 tests/docs/check_site.py FOLDER                       of the book that check_book.py has built
    python3 tests/docs/check_site.py FOLDER --screenshots FOLDER  also stores what was seen

Exit status 4 where there is no Chromium or Doxygen.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, skip

sys.path.insert(0, str(ROOT / "docs"))
import book
import browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PAGES = {"front": "index.html", "chapter": "page_01_multiply_add.html", "concept": "page_memory.html",
         "glossary": "page_glossary.html"}
WIDTHS = {390: 844, 1280: 800, 1440: 900}
VIEWS = [(390, "light"), (390, "dark"), (1280, "light"), (1440, "dark")]  # both schemes on both
FEW_VIEWS = [(390, "dark"), (1280, "light")]  # both schemes and both widths, each once

# Width of what is shown, and of the widest that the page holds without scrolling itself.
SIDEWAYS = """
const widths = [document.documentElement, document.body, document.getElementById('doc-content')]
    .map(part => part.scrollWidth - part.clientWidth);
return Math.max(...widths);
"""

# Contrast of text with its background (WCAG 2), for the elements named: the lowest, and where.
CONTRAST = """
function colour(text) { return text.match(/[\\d.]+/g).map(Number); }
function linear(v) { return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }
function luminance(rgb) {
  const [r, g, b] = rgb.slice(0, 3).map(v => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = colour(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0.9) return c;
  }
  return [255, 255, 255];
}
let worst = [99, ''];
const parts = ['p', 'li', 'td', 'a', 'h1', 'h2', 'h3', 'code', '.line', '.fragment span']
    .map(part => '.contents ' + part);
for (const e of document.querySelectorAll([...parts, '#nav-tree .label a'].join())) {
  if (!e.textContent.trim() || e.offsetParent === null || e.closest('.ttc, .selected')) continue;
  const lights = [luminance(colour(getComputedStyle(e).color)), luminance(behind(e))];
  lights.sort((a, b) => b - a);
  const ratio = (lights[0] + 0.05) / (lights[1] + 0.05);
  const where = e.tagName + '.' + e.className + ': ' + e.textContent.trim().slice(0, 40);
  if (ratio < worst[0]) worst = [ratio, where];
}
return worst;
"""

# How light the background of a picture is, 0 to 255, from a PNG of it.
BACKGROUND = """
const [png, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0);
  const [r, g, b] = context.getImageData(image.width / 2, 3, 1, 1).data;
  done((r + g + b) / 3);
};
image.src = 'data:image/png;base64,' + png;
"""

IS_DARK = "return document.documentElement.classList.contains('dark-mode');"

HEADINGS = """
const headings = ['h1', 'h2', 'h3', '.title'].map(part => '#doc-content ' + part).join();
return [...document.querySelectorAll(headings)].filter(h => !h.closest('.toc'))
    .map(h => h.classList.contains('title') ? 1 : Number(h.tagName[1]));
"""


def leavings():
    """The files that browsers leave in the folders that they usually write to."""
    home = pathlib.Path.home()
    folders = [pathlib.Path(tempfile.gettempdir()), home, home / ".config", home / ".cache"]
    return {path for folder in folders if folder.is_dir() for path in folder.iterdir()
            if re.search("chrom|selenium|google|pki", path.name, re.I)}


# The tree of the navigation is filled in after the page has come, on a desk with all pages of the book.
IS_LOADED = """
return document.readyState === 'complete'
    && document.querySelectorAll('#nav-tree .label a').length >= arguments[0];
"""
TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0])));"


def open_page(driver, address, width, scheme):
    browser.open_page(driver, address, width, WIDTHS[width], scheme)
    labels = 1 if width < 768 else len(book.order_titles())
    loaded = until(lambda: driver.execute_script(IS_LOADED, labels))
    expect(f"{address.rpartition('/')[2]} is loaded", loaded)
    driver.execute_async_script(TWO_FRAMES)


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        seen = condition()
        if seen:
            return seen
        time.sleep(0.02)
    return condition()


def check_pages(driver, folder, screenshots):
    for name, file in PAGES.items():
        for width, scheme in VIEWS if name == "chapter" else FEW_VIEWS:
            what = f"{file}, {width} pixels, {scheme}"
            open_page(driver, (folder / file).as_uri(), width, scheme)
            if screenshots:
                driver.save_screenshot(str(screenshots / f"{name}_{width}_{scheme}.png"))
            log = driver.get_log("browser")
            errors = [entry["message"] for entry in log if entry["level"] == "SEVERE"]
            expect(f"{what}: no error on the console", not errors, errors)
            sideways = driver.execute_script(SIDEWAYS)
            expect(f"{what}: nothing to scroll sideways", sideways <= 0, f"{sideways} pixels too wide")
            dark = driver.execute_script(IS_DARK)
            expect(f"{what}: the scheme is the browser's", dark == (scheme == "dark"), dark)
            ratio, where = driver.execute_script(CONTRAST)
            expect(f"{what}: contrast of 4.5 and more", ratio >= 4.5, f"{ratio:.2f} at {where}")
        levels = driver.execute_script(HEADINGS)
        steps = [after - before for before, after in zip(levels, levels[1:])]
        in_order = levels[0] == 1 and all(step <= 1 for step in steps)
        expect(f"{file}: no level of the headings is left out", in_order, levels)


def check_search(driver, folder, screenshots):
    open_page(driver, (folder / "index.html").as_uri(), 1440, "light")
    field = driver.find_element(By.ID, "MSearchField")
    field.click()
    field.send_keys("sector")

    def results():
        links = driver.find_elements(By.CSS_SELECTOR, "#book-results a")
        return [(link.text, link.get_attribute("href")) for link in links]

    found = until(results)
    expect("the search finds “sector” on the page of the memory system",
           any("page_memory.html#" in href for _, href in found), found)
    field.send_keys(Keys.ARROW_DOWN)
    focused = driver.switch_to.active_element
    first = focused.get_attribute("href") == found[0][1]
    expect("the arrow keys lead to the first result", first, focused.tag_name)
    if screenshots:
        driver.save_screenshot(str(screenshots / "search.png"))
    focused.send_keys(Keys.ENTER)
    expect("and Enter to its place", until(lambda: driver.current_url == found[0][1]), driver.current_url)
    open_page(driver, (folder / "index.html").as_uri(), 1440, "light")
    driver.find_element(By.ID, "MSearchField").send_keys("qqqq")
    expect("a search for nothing there says so",
           until(lambda: driver.find_element(By.ID, "book-results").text == "Nothing found."))


FIRST_FOUND = "return find(arguments[0])[0]?.href;"


def check_search_of_words(driver, folder):
    """A search for a word of the glossary, in any of its spellings, begins with an entry of that word."""
    anchors = {}
    for words, *_, anchor in book.entries_of(book.GLOSSARY.read_text()):
        for word in words:
            anchors.setdefault(word.lower(), []).append(f"page_glossary.html#{anchor}")
    open_page(driver, (folder / "index.html").as_uri(), 1440, "light")
    others = {word: found for word in anchors
              if (found := driver.execute_script(FIRST_FOUND, word)) not in anchors[word]}
    expect(f"a search for each of {len(anchors)} words of the glossary puts its entry first",
           not others, others)
    for query, word in (("Warps", "warp"), ("coalesc", "coalesced"), ("  bank   conflict ", "bank conflict")):
        found = driver.execute_script(FIRST_FOUND, query)
        expect(f"and so does one for “{query}”", found in anchors[word], found)
    found = driver.execute_script(FIRST_FOUND, "warp_sum")
    expect("a name of the reference that is no word of the glossary comes first still",
           found and "page_" not in found, found)

    driver.find_element(By.ID, "MSearchField").send_keys("lane")
    first = until(lambda: driver.find_elements(By.CSS_SELECTOR, "#book-results a"))[0]
    shown = first.text.startswith("lane") and "32 threads" in first.text
    expect("the result shows the word and its sentence", shown, first.text)
    driver.find_element(By.ID, "MSearchField").send_keys(Keys.ENTER)
    until(lambda: driver.current_url.endswith(anchors["lane"][0]))
    there = driver.current_url.endswith(anchors["lane"][0])
    top = driver.execute_script(
        "return document.getElementById(location.hash.slice(1))?.getBoundingClientRect().top")
    expect("and Enter leads to the entry", there and 0 <= top < 900, (driver.current_url, top))


# The blocks of code that must be scrolled sideways although no line of theirs has more than 110 characters.
TOO_NARROW = """
const lines = block => [...block.querySelectorAll('.line')].map(line => line.textContent);
const texts = block => lines(block).length ? lines(block) : block.textContent.split('\\n');
const longest = block => Math.max(...texts(block).map(text => text.trimEnd().length));
return [...document.querySelectorAll('.contents .fragment')]
    .filter(block => longest(block) <= 110 && block.scrollWidth > block.clientWidth)
    .map(block => block.textContent.slice(0, 80));
"""

# Names that a line break divides elsewhere than after a part: the places of <wbr>.
BROKEN_NAMES = """
const broken = [];
for (const code of document.querySelectorAll('.contents td code'))
  for (const part of code.childNodes) {
    const range = document.createRange();
    range.selectNodeContents(part);
    if (part.nodeType === Node.TEXT_NODE && !/[\\s-]/.test(part.data) && range.getClientRects().length > 1)
      broken.push(code.textContent);
  }
return broken;
"""


LINES = "return [...document.querySelectorAll('.contents .fragment .line')].length"


def check_code(driver, page):
    """Checks the page that is shown, 1280 pixels wide; returns how many lines of code it has."""
    blocks = driver.execute_script(TOO_NARROW)
    expect(f"{page}, 1280 pixels: code of 110 columns need not be scrolled", not blocks, blocks)
    return driver.execute_script(LINES)


def check_names(driver, folder):
    for file in ("page_json.html", "page_ncu.html"):
        open_page(driver, (folder / file).as_uri(), 390, "light")
        names = driver.execute_script(BROKEN_NAMES)
        expect(f"{file}, 390 pixels: no name is broken within a part", not names, names)


def check_keyboard_and_texts(driver, folder):
    open_page(driver, (folder / PAGES["chapter"]).as_uri(), 1280, "light")
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    first = driver.switch_to.active_element
    seen = first.text == "Skip to the text" and 0 <= first.location["y"] < 100
    expect("the tab key first reaches a link that skips the tree", seen, (first.text, first.location))
    first.send_keys(Keys.ENTER)
    here = driver.switch_to.active_element.get_attribute("id")
    expect("... which leads to the text", here == "doc-content", here)
    silent = until(lambda: not driver.execute_script("return document.querySelector('img:not([alt])')"))
    expect("every image has a text", silent)


def check_navigation(driver, folder):
    open_page(driver, (folder / "index.html").as_uri(), 1440, "light")

    wanted = book.order_titles()

    def labels_shown():
        labels = [e.text for e in driver.find_elements(By.CSS_SELECTOR, "#nav-tree .label a")]
        return [label for label in labels if label in wanted]

    # While the tree slides open, a label that is cut off has no text.
    in_order = until(lambda: labels_shown() == wanted)
    expect("the tree shows the book in order", in_order, labels_shown())


def check_figures(driver, folder):
    open_page(driver, (folder / PAGES["chapter"]).as_uri(), 1440, "light")
    figures = driver.execute_script(
        "return [...document.querySelectorAll('.contents img')]"
        "    .map(i => [i.getAttribute('src'), i.naturalWidth, i.alt])")
    expect("figures are shown, with a text for those who do not see them",
           figures and all(width > 300 and len(text) > 30 for _, width, text in figures), figures)


# --- Predictions ---

ANSWERS = re.compile(r"^\| (\w+) \| ([a-z-]+) \| ([\d.]+)x? \| (.+) \|$", re.M)

# [label of its field, text of its mark, the mark's words, whether it is shown] of each prediction
MARKS = """
return [...document.querySelectorAll('.contents .prediction')].map(input => {
  const mark = input.parentElement.querySelector('.prediction-mark');
  return [input.getAttribute('aria-label'), mark?.textContent ?? '', mark?.getAttribute('aria-label') ?? ''];
});
"""

# Whether the fold of the counts is open, the table of answers in it is seen, and what is said of the fields.
STATE = """
const table = answersTable();
return [table.closest('details').open, table.checkVisibility(),
        document.querySelector('.contents [role=status]').textContent];
"""


class Predictions:
    """The predictions of a lesson in the browser."""

    def __init__(self, driver, folder, chapter):
        self.driver = driver
        self.address = (folder / f"page_{chapter}.html").as_uri()
        lesson = (ROOT / "docs" / f"{chapter}.md").read_text()
        self.answers = {f"Your prediction: {stage}, {what}": (number, why)
                        for stage, what, number, why in ANSWERS.findall(lesson)}

    def open(self, width=1440, scheme="light"):
        open_page(self.driver, self.address, width, scheme)

    def fields(self):
        return self.driver.find_elements(By.CSS_SELECTOR, ".contents .prediction")

    def write(self, field, *texts):
        """From that field on; the tab key leads to the next one."""
        field.clear()
        field.send_keys("".join(text + Keys.TAB for text in texts))

    def marks(self):
        return self.driver.execute_script(MARKS)

    def state(self):
        return self.driver.execute_script(STATE)

    def press(self):
        button = self.driver.find_element(By.CSS_SELECTOR, ".contents .prediction-button")
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'});", button)
        button.click()

    def explanations(self):
        rows = self.driver.find_elements(By.CSS_SELECTOR, ".contents .prediction-why div")
        return [" ".join(row.text.split()) for row in rows]


def check_marks_are_the_terminals(driver):
    """The page's functions say of each answer what tests/cli/test_predict.cpp holds the program's to."""
    wrong = []
    for answer, counted, wanted in json.loads((ROOT / "tests/docs/predicted_numbers.json").read_text()):
        found = driver.execute_script(
            "const n = predictedNumber(arguments[0]);"
            "return n === null ? null : isRightPrediction(n, arguments[1]);", answer, counted)
        if found != wanted:
            wrong.append((answer, counted, found))
    expect("the page takes the answers that the terminal takes", not wrong, wrong)


def check_predictions(driver, folder, chapter, is_first, screenshots):
    """The predictions of a lesson: of the first all that fields and button do, in all windows. The others
    differ from it in their texts, which are marked and explained, kept and shown. Returns what check_code()
    does of the page.
    """
    page = Predictions(driver, folder, chapter)
    page.open(1280)
    lines = check_code(driver, chapter)
    labels = [label for label, *_ in page.marks()]
    expect(f"{chapter}: there is a field for each answer", labels and labels == list(page.answers),
           (labels, list(page.answers)))
    is_open, seen, status = page.state()
    unmarked = not page.explanations() and not any(mark for _, mark, _ in page.marks())
    expect(f"{chapter}: the counts are folded, and nothing is marked", not is_open and not seen and unmarked,
           (is_open, seen, page.marks()))
    expect(f"{chapter}: it says how many are filled in", f"0 of {len(labels)} filled in" in status, status)

    if is_first:
        page.write(page.fields()[0], "many")
        expect("what is no number is named", "“many” is no number" in page.state()[2], page.state())
    page.write(page.fields()[0], *(page.answers[label][0] for label in labels[:-1]))
    expect(f"{chapter}: all but one are not enough", not page.state()[0] and not page.explanations(),
           page.state())
    if is_first:
        page.open()
        kept = [field.get_attribute("value") for field in page.fields()]
        expect("they are still there later",
               kept == [number for number, _ in page.answers.values()][:-1] + [""], kept)

    page.write(page.fields()[-1], "99")
    marks = page.marks()
    unit = {label: "x" if label.endswith("speed-up") else "" for label in labels}
    texts = {label: page.answers[label][0] + unit[label] for label in labels}
    wanted = [[label, f"✓ {texts[label]}", f"right: {texts[label]}"] for label in labels[:-1]]
    expect(f"{chapter}: right ones are marked", marks[:-1] == wanted, marks)
    expect(f"{chapter}: a wrong one is marked, with the right value",
           marks[-1][1:] == [f"✗ {texts[labels[-1]]}", f"wrong: it is {texts[labels[-1]]}"], marks[-1])
    is_open, seen, status = page.state()
    expect(f"{chapter}: the counts open", is_open and not seen, page.state())
    expect(f"{chapter}: the right ones are counted",
           status.startswith(f"{len(labels) - 1} of {len(labels)} right"), status)
    wanted = [f"{label.rpartition(', ')[2]}: {why.replace('`', '')}"
              for label, (_, why) in page.answers.items()]
    expect(f"{chapter}: each is explained", page.explanations() == wanted, (page.explanations(), wanted))
    for width, scheme in VIEWS if is_first else [(390, "dark")]:
        page.open(width, scheme)
        expect(f"{chapter}: they are still marked later, {width} pixels, {scheme}",
               page.explanations() == wanted and page.marks() == marks, page.marks())
        if screenshots:
            driver.execute_script("document.getElementById(arguments[0]).scrollIntoView();",
                                  f"page_{chapter}--predict")
            driver.save_screenshot(str(screenshots / f"predictions_{chapter}_{width}_{scheme}.png"))
        ratio, where = driver.execute_script(CONTRAST)
        expect("... with a contrast of 4.5 and more", ratio >= 4.5, f"{ratio:.2f} at {where}")
        sideways = driver.execute_script(SIDEWAYS)
        expect("... and nothing to scroll sideways", sideways <= 0, f"{sideways} pixels too wide")

    if not is_first:
        return lines
    page.press()
    page.open()
    empty = not any(field.get_attribute("value") for field in page.fields())
    expect("“Start again” empties and folds all", empty and not page.state()[0], page.state())
    page.press()
    shown = page.marks()
    expect("“Show me” shows all, and marks nothing",
           page.state()[0] and all(said.startswith("it is ") for _, _, said in shown)
           and page.explanations() == wanted, shown)
    page.press()
    driver.execute_script("answersTable().closest('details').open = true;")
    until(page.explanations)
    expect("so does opening the fold", page.explanations() == wanted, page.state())
    page.press()
    return lines


FIGURES_SHOWN = """
return [...document.querySelectorAll('.contents img')].map(image => image.getAttribute('src'))
    .filter(name => /^(trace_)?\\d\\d_/.test(name));
"""


OPEN_FOLDS = "for (const fold of document.querySelectorAll('.contents details')) fold.open = true;"


def check_figures_on_phones(driver, folder):
    for width in (390, 1440):
        for page in ("page_00_first_kernel.html", PAGES["chapter"]):
            open_page(driver, (folder / page).as_uri(), width, "light")
            driver.execute_script(OPEN_FOLDS)
            shown = driver.execute_script(FIGURES_SHOWN)
            narrow = [name for name in shown if name.endswith("_narrow.svg")]
            expect(f"{page}, {width} pixels: the figures have the form for that width",
                   len(shown) >= 3 and narrow == (shown if width < 600 else []), shown)


def check_pictures_follow_the_switch(driver, folder):
    """Pictures and figures are light or dark as the page is, whatever the system's scheme is."""
    for scheme in ("light", "dark"):
        open_page(driver, (folder / PAGES["chapter"]).as_uri(), 1440, scheme)
        driver.execute_script(OPEN_FOLDS)
        for switched in (False, True):
            if switched:
                driver.find_element(By.CSS_SELECTOR, "doxygen-awesome-dark-mode-toggle").click()
                time.sleep(0.4)
            dark = driver.execute_script(IS_DARK)
            for file in ("round_trip.svg", "01_multiply_add_bytes.svg"):
                picture = driver.find_element(By.CSS_SELECTOR, f"img[src='{file}']")
                light = driver.execute_async_script(BACKGROUND, picture.screenshot_as_base64)
                what = f"{file} follows the page: {scheme} system, {'dark' if dark else 'light'} page"
                expect(what, light < 64 if dark else light > 192, f"background of {light}")
            expect("the switch switches", dark == ((scheme == "dark") != switched))


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("doxygen") or not book.theme():
        skip("there is no Doxygen with doxygen-awesome-css")
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        before = leavings()
        home = pathlib.Path(temporary) / "home"
        home.mkdir()
        driver = browser.browser(str(home))
        try:
            folder = arguments.folder.resolve() / "docs" / "html"
            check_pages(driver, folder, arguments.screenshots)
            check_names(driver, folder)
            check_keyboard_and_texts(driver, folder)
            check_navigation(driver, folder)
            check_search(driver, folder, arguments.screenshots)
            check_search_of_words(driver, folder)
            check_figures(driver, folder)
            lessons = [path.stem for path in sorted((ROOT / "docs").glob("[0-9][0-9]_*.md"))
                       if "<!-- answers: " in path.read_text()]
            lines = 0
            for chapter in lessons:
                lines += check_predictions(driver, folder, chapter, chapter == lessons[0],
                                           arguments.screenshots)
            for lesson in sorted((ROOT / "docs").glob("0*.md")):
                if lesson.stem not in lessons:
                    open_page(driver, (folder / f"page_{lesson.stem}.html").as_uri(), 1280, "light")
                    lines += check_code(driver, lesson.stem)
            expect("... and there are lines of code", lines > 2000, lines)
            check_marks_are_the_terminals(driver)
            check_figures_on_phones(driver, folder)
            check_pictures_follow_the_switch(driver, folder)
        finally:
            driver.quit()
        left = leavings() - before
        expect("the browser leaves nothing outside its folder", not left, left)


main()
