"""docs/licences.md lists what CMake finds and the launcher installs, with the licences that Debian names."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

DOC = pathlib.Path("/usr/share/doc")
# What Debian calls the licences that our page calls by their usual names.
DEBIAN_NAMES = {"BSL-1.0": ("BSL-1.0", "Boost-1.0"), "MIT": ("Expat",), "GPL-2.0": ("GPL-2",),
                "BSD-3-Clause": ("BSD-3-clause",), "Apache-2.0": ("Apache-2.0", "APACHE-2-LLVM-EXCEPTIONS")}
# Packages whose own copyright file refers to another package's.
SOURCES = {"libboost-context-dev": "libboost1.74-dev", "clang-format": "clang-format-14"}


def rows(page):
    """The rows of the page's tables: the cells, and the packages that are named."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("software", "---"):
            yield cells, re.findall(r"`([^`]+)`", cells[2])


def found_by_cmake():
    """The names of all find_package commands."""
    files = [ROOT / "CMakeLists.txt", *ROOT.glob("*/CMakeLists.txt"), *ROOT.glob("cmake/*.cmake")]
    return {name for file in files for name in re.findall(r"^ *find_package\((\w+)", file.read_text(), re.M)}


def launcher_packages():
    lists = re.findall(r"^\w+_needs='([^']*)'", (ROOT / "workbook").read_text(), re.M)
    return {need.partition(":")[0] for needs in lists for need in needs.split()}


def debian_licence(package):
    """The licence of most of a package's files; None where no copyright file in the usual form is there."""
    file = DOC / SOURCES.get(package, package) / "copyright"
    text = file.read_text(errors="replace") if file.exists() else ""
    found = re.search(r"^Files: +\*(?:\n.+)*?\nLicense: +(.+)", text, re.M)
    return found[1] if found else None


def main():
    page = (ROOT / "docs/licences.md").read_text()
    listed = {package for _, packages in rows(page) for package in packages}
    wanted = launcher_packages()
    expect("the launcher's packages are on the page", len(wanted) > 10 and wanted <= listed, wanted - listed)
    cmake = found_by_cmake()
    missing = {name for name in cmake if f"| `{name}` |" not in page}
    expect("what CMake finds is on the page", len(cmake) > 5 and not missing, missing)

    compared = 0
    for cells, packages in rows(page):
        licence = re.match(r"[\w.-]+", cells[1])[0]
        for theirs in filter(None, map(debian_licence, packages)):
            if licence in DEBIAN_NAMES:
                names = DEBIAN_NAMES[licence]
                expect(f"{cells[0]}: {licence}", theirs.startswith(names), f"Debian says {theirs}")
                compared += 1
    print(f"{compared} licences compared with Debian's")


main()
