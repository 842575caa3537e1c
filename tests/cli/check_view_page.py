"""The page of `./workbook view` in a browser: its sums, pictures and keys, on a phone's and a desk's width.

    python3 tests/cli/check_view_page.py build/bin          exit status 4 where there is no Chromium
    python3 tests/cli/check_view_page.py build/bin --screenshots FOLDER  also stores what was seen

The pages are about the solution and the skeleton of exercise 04.4, whose program the tests have built; what
`view` itself does is tested by check_view.py.
"""

import json
import pathlib
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run
from browser import browser, open_page

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

EXERCISE = "04_relu_layernorm_4_conflicts"

# Width of what is shown, and of the widest that the page holds without scrolling itself.
SIDEWAYS = """
return document.documentElement.scrollWidth - document.documentElement.clientWidth;
"""

# Contrast of text with its background (WCAG 2): the lowest one that is shown, and where. A cell's background
# picture counts as its most frequent colour.
CONTRAST = """
const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
function rgb(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
}
function linear(v) { return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }
function luminance([r, g, b]) {
  return 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
}
function behind(element) {
  if (!element) return rgb(getComputedStyle(document.body).backgroundColor);
  const style = getComputedStyle(element);
  const picture = style.backgroundImage.match(/(?:color|rgba?)\\([^)]*\\)/);
  const layers = [style.backgroundColor, ...(picture ? [picture[0]] : [])].map(rgb);
  let under = layers.some(c => c[3] > 250) ? [0, 0, 0] : behind(element.parentElement);
  for (const [r, g, b, a] of layers)
    under = [r, g, b].map((v, i) => v * a / 255 + under[i] * (1 - a / 255));
  return under;
}
let worst = [99, ''];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (!own || e.offsetParent === null || e.closest('select, script') || e.disabled) continue;
  const lights = [luminance(rgb(getComputedStyle(e).color)), luminance(behind(e))].sort((a, b) => b - a);
  const ratio = (lights[0] + 0.05) / (lights[1] + 0.05);
  const where = e.tagName + '.' + e.className + ': ' + e.textContent.trim().slice(0, 40);
  if (ratio < worst[0]) worst = [ratio, where];
}
return worst;
"""

# The numbers of each column, line by line, and the sums below them.
COLUMNS = """
const cells = row => [...row.querySelectorAll('td.count')].map(c => c.textContent.replace(/[≈*,]/g, ''));
return [[...document.querySelectorAll('thead th.count')].map(h => h.textContent.replace('\\n', ' ')),
        [...document.querySelectorAll('tr.counted')].map(cells), cells(document.querySelector('tfoot tr'))];
"""


def make_page(programs, folder, version):
    """The page about a version of the exercise, and its data."""
    file = folder / f"{version}.json"
    done = run(programs / f"versions_{EXERCISE}", version, file, "view")
    expect(f"{version}: there is data for a page", done.returncode == 0, done.stderr)
    data = json.loads(file.read_text())
    return write_page(folder, version, data), data


def write_page(folder, name, data):
    """The page with this data, as `view` writes it."""
    page = folder / f"{name}.html"
    text = json.dumps(data).replace("<", "\\u003c")
    page.write_text((ROOT / "cli/commands/view.html").read_text().replace("@DATA@", text))
    return page


def total(data, field):
    return sum(launch["counts"][field] for launch in data["launches"])


def check_sums(driver, data):
    headings, rows, sums = driver.execute_script(COLUMNS)
    totals = {"requests": total(data, "load_requests") + total(data, "store_requests"),
              "sectors": total(data, "load_sectors") + total(data, "store_sectors"),
              "shared requests": total(data, "shared_requests"),
              "wavefronts": total(data, "shared_load_wavefronts") + total(data, "shared_store_wavefronts"),
              "barriers": total(data, "barriers")}
    for heading, wanted in totals.items():
        column = headings.index(heading)
        lines = sum(int(row[column] or 0) for row in rows)
        expect(f"{heading}: the lines add up to the table", wanted > 0 and
               lines == int(sums[column]) == wanted, f"lines {lines}, sum {sums[column]}, table {wanted}")


def text_of(driver, selector):
    return driver.execute_script("return document.querySelector(arguments[0])?.textContent", selector)


def chosen_line(driver):
    return text_of(driver, "tr.chosen .number")


def press(driver, *keys):
    ActionChains(driver).send_keys(*keys).perform()


def site_line(data, operation, space, waves=0):
    """The first line with such an access, whose requests take at least so many wavefronts."""
    for launch in data["launches"]:
        for site in launch["sites"]:
            counts = site["counts"]
            if (site["operation"], site["space"]) == (operation, space) and \
                    counts["shared_load_wavefronts"] >= waves * counts["shared_requests"]:
                return site["line"]
    return None


def click_line(driver, line):
    driver.execute_script(
        "document.getElementById(`line-0-${arguments[0]}`).querySelector('button').click()", line)


def check_pictures(driver, data):
    click_line(driver, site_line(data, "load", "global"))
    said = text_of(driver, "#said")
    expect("a load of a whole warp touches 4 sectors and uses them all",
           "All 32 lanes take part" in said and "4 sectors of 32 bytes" in said
           and "128 of these 128 bytes" in said, said)
    touched = driver.execute_script("return document.querySelectorAll('.sector.touched').length")
    lanes = driver.execute_script("return [...document.querySelectorAll('.word.used')]"
                                  "    .map(w => w.textContent)")
    expect("they are drawn, each word with its lane", touched == 4 and sorted(map(int, lanes)) ==
           list(range(32)), f"{touched} {lanes}")


def check_conflict(driver, data):
    """The skeleton, without padding: 32 words in one bank."""
    line = site_line(data, "load", "shared", waves=2)
    click_line(driver, line)
    said = text_of(driver, "#said")
    deepest = driver.execute_script("return Math.max(...[...document.querySelectorAll('.bank')]"
                                    "    .map(b => b.querySelectorAll('.word.used').length))")
    expect("a conflict shows the words that one bank serves", f"has {deepest} different words" in said
           and f"{deepest} wavefronts" in said and deepest > 1, f"line {line}: {deepest} deep: {said}")


# Whether the last visible control of a kind has the focus after it was pressed.
PRESSED = """
const control = [...document.querySelectorAll(arguments[0])].filter(one => one.offsetParent !== null).at(-1);
control.focus();
control.click();
return document.activeElement.id === control.id;
"""


def check_keys(driver):
    driver.execute_script("document.querySelector('tr.counted button').click()")
    first = chosen_line(driver)
    press(driver, Keys.ARROW_DOWN)
    second = chosen_line(driver)
    expect("the arrow keys choose the next line", int(second) > int(first), f"{first} {second}")
    press(driver, Keys.ARROW_UP)
    expect("and the one before", chosen_line(driver) == first)
    for _ in range(20):  # to a line that is executed several times
        if driver.execute_script("return document.getElementById('after')?.disabled === false"):
            break
        press(driver, Keys.ARROW_DOWN)
    before = text_of(driver, "#said"), text_of(driver, "#step")
    press(driver, Keys.ARROW_RIGHT)
    expect("and step through its executions", before[1] == "1" and text_of(driver, "#step") == "2")
    press(driver, Keys.ARROW_LEFT)
    expect("and back", (text_of(driver, "#said"), text_of(driver, "#step")) == before)
    press(driver, Keys.TAB)
    inside = driver.execute_script("return document.activeElement.closest('.detail, .source') !== null")
    expect("Tab leads on to the next control", inside)
    for control in (".source th button", ".accesses button"):
        held = driver.execute_script(PRESSED, control)
        expect(f"{control} keeps the focus when it is pressed", held)


def check_scrolling(driver):
    """Outside of the table the arrow keys scroll."""
    driver.execute_script("document.activeElement.blur()")
    before = chosen_line(driver), driver.execute_script("return scrollY")
    press(driver, Keys.ARROW_DOWN)
    driver.execute_async_script("setTimeout(arguments[0], 500)")
    after = chosen_line(driver), driver.execute_script("return scrollY")
    expect("outside of the table the arrow keys scroll", before[0] == after[0] and before[1] < after[1],
           f"{before} {after}")


def check_messages(driver, folder, data):
    """A message stands whole below its line, and at the top if the page does not have the line."""
    text = "out of bounds: kernel k (gone.cu:7)\n  x has 1 element"
    line = site_line(data, "load", "global")
    for what, places in (("a file without text", [{"file": 1, "line": 7}]),
                         ("a line past the end", [{"file": 0, "line": 10 ** 6}]),
                         ("one of two lines", [{"file": 1, "line": 7}, {"file": 0, "line": line}])):
        changed = {**data, "files": [data["files"][0], {"name": "gone.cu", "first": 1, "lines": []}],
                   "messages": [{"kind": "finding", "text": text, "places": places}]}
        open_page(driver, write_page(folder, "message", changed).as_uri(), 1280, 860, "light")
        top = text_of(driver, "#messages")
        below = text_of(driver, f"#line-0-{line} + tr.inline")
        if len(places) == 1:
            expect(f"a message about {what} is shown whole", top == text, top)
        else:
            expect(f"a message about {what} is below that", below == text and f"line {line}" in top,
                   f"{top} {below}")


def check_many_launches(driver, folder, data):
    """Launches that are added up count in the sums, and the page says how many they are."""
    one = data["launches"][0]
    launches = [{**one, "number": 1}, {**one, "number": 1000, "ended_early": False},
                {**{name: value for name, value in one.items() if name != "number"},
                 "warps": [], "added_up": 998}]
    changed = {**data, "launches": launches, "launch_count": 1000}
    open_page(driver, write_page(folder, "launches", changed).as_uri(), 1280, 860, "light")
    check_sums(driver, changed)
    names = driver.execute_script("return [...document.getElementById('launch').options].map(o => o.text)")
    expect("the launches that are added up are one choice", names[0] == "all 1,000 launches"
           and names[2].startswith("1000: ") and names[3].startswith("998 other launches of "), names)
    said = text_of(driver, "#left-out")
    expect("the page says what was left out", "The first 1 launch and the last one are listed one by one; "
           "the other 998 are added up by kernel, without pictures." in said, said)
    click_line(driver, site_line(data, "load", "global"))
    shown = driver.execute_script("document.querySelector('.accesses button:last-child').click();"
                                  "return document.getElementById('detail').textContent")
    expect("and that they have no pictures", "998 other launches: " in shown
           and "Pictures are kept of launches that are listed one by one." in shown, shown)


def check_choices(driver):
    """Launch, heat, block and warp can be chosen at any width."""
    for name in ("metric", "launch", "block", "warp"):
        options = driver.execute_script("return [...document.getElementById(arguments[0])?.options || []]"
                                        "    .map(o => o.value)", name)
        for value in options:
            driver.execute_script("const list = document.getElementById(arguments[0]);"
                                  "list.value = arguments[1]; list.dispatchEvent(new Event('change'))",
                                  name, value)
            shown = driver.execute_script("return document.getElementById(arguments[0]).value", name)
            expect(f"{name} {value} can be chosen", shown == value and text_of(driver, "#detail"), shown)


def check_looks(driver, page, screenshots):
    for width, height in ((400, 800), (1280, 860)):
        for scheme in ("light", "dark"):
            what = f"{page.stem}, {width} pixels, {scheme}"
            open_page(driver, page.as_uri(), width, height, scheme)
            if screenshots:
                driver.save_screenshot(str(screenshots / f"{page.stem}_{width}_{scheme}.png"))
            sideways = driver.execute_script(SIDEWAYS)
            expect(f"{what}: nothing to scroll sideways", sideways <= 0, f"{sideways} pixels too wide")
            ratio, where = driver.execute_script(CONTRAST)
            expect(f"{what}: contrast of 4.5 and more", ratio >= 4.5, f"{ratio:.2f} at {where}")
            inline = driver.execute_script("return document.getElementById('detail').closest('tr') !== null")
            expect(f"{what}: the picture is {'below' if width < 1100 else 'beside'} the line",
                   inline == (width < 1100))
            check_keys(driver)
            check_scrolling(driver)
            check_choices(driver)
            log = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
            expect(f"{what}: no error on the console, and nothing is loaded", not log, log)


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of the built programs")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        solution, solution_data = make_page(options.programs, folder, "solution")
        skeleton, skeleton_data = make_page(options.programs, folder, "skeleton")
        driver = browser(str(folder))
        try:
            check_looks(driver, solution, options.screenshots)
            check_looks(driver, skeleton, options.screenshots)
            open_page(driver, solution.as_uri(), 1280, 860, "light")
            check_sums(driver, solution_data)
            check_pictures(driver, solution_data)
            open_page(driver, skeleton.as_uri(), 1280, 860, "light")
            check_sums(driver, skeleton_data)
            check_conflict(driver, skeleton_data)
            check_messages(driver, folder, solution_data)
            check_many_launches(driver, folder, solution_data)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
