"""The page on the CPU device: every test that it names exists, and it leaves nothing out.

    python3 tests/docs/check_cpu_device.py build/bin/tests

Pages name a test of that program as `tests "NAME"`, in which * stands for any text, as Catch2 has it.
"""

import fnmatch
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

PAGE = ROOT / "docs" / "cpu_device.md"
NAMED = re.compile(r'`tests "([^"]+)"`')
LISTED = ("finding:", "note:", "not seen", "option --note ")  # tests with these names must stand on the page


def tests_of(program):
    """The names of all tests. Catch2 2 knows the first way, Catch2 3 the second."""
    for options in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        names = [line.strip() for line in run(program, *options).stdout.splitlines()]
        if "not seen: a load whose value is not used" in names:
            return names
    sys.exit(f"FAILED: {program} does not list its tests")


def matches(test, name):
    return fnmatch.fnmatchcase(test, re.sub(r"\[", "[[]", name))


def absent(text, tests):
    """The names in a page that no test has."""
    names = NAMED.findall(" ".join(text.split()))
    return [name for name in names if not any(matches(test, name) for test in tests)]


def unnamed(text, tests):
    """The tests that should stand on the page, and do not."""
    names = NAMED.findall(" ".join(text.split()))
    return [test for test in tests
            if test.startswith(LISTED) and not any(matches(test, name) for name in names)]


def kinds():
    """The titles of all kinds of findings and notes."""
    table = (ROOT / "cpu_device/findings/finding_kind.hpp").read_text()
    return re.findall(r'^    \{"([^"]+)", "', table, re.M)


def check_checker():
    tests = ["finding: a[0], written twice", "a broadcast"]
    text = '`tests "finding: a[0],\nwritten twice"` `tests "a b*"` `tests "a c*"`'
    expect("a test that does not exist is found", absent(text, tests) == ["a c*"])
    expect("a test that the page does not name is found",
           unnamed(text, [*tests, "note: b"]) == ["note: b"] and unnamed("", tests) == tests[:1])
    expect("kinds of findings are found", {"race in shared memory", "order by a shuffle"} <= set(kinds()))


def main():
    check_checker()
    tests = tests_of(sys.argv[1])
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        faults = absent(page.read_text(), tests)
        expect(f"the tests that {page.name} names exist", not faults, "\n".join(faults))
    page = PAGE.read_text()
    faults = unnamed(page, tests)
    expect("every test of a finding, of a note and of what is not seen stands on the page",
           not faults, "\n".join(faults))
    faults = [kind for kind in kinds() if f"**{kind}**" not in " ".join(page.split())]
    expect("every kind of finding and note stands on the page", not faults, "\n".join(faults))


main()
