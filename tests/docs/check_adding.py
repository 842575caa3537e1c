"""docs/adding_a_chapter.md, followed to the letter: its stage and its chapter compile, and are formatted.

    python3 tests/docs/check_adding.py COMPILER
"""

import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

COMPILER = sys.argv[1]
PAGE = ROOT / "docs" / "adding_a_chapter.md"
INCLUDES = (".", "common", "common/kernels", "cpu_device/dialect/cuda_headers")
EXAMPLE = "01_multiply_add"


def insert(text, before, new):
    """`text` with `new` before the first `before`, which must be there."""
    expect(f"there is a place for {new.strip()}", before in text, text)
    return text.replace(before, new + before, 1)


def follow(chapters):
    """Does in a copy of `chapters` what the page says; returns the files that it makes or changes."""
    blocks = re.findall(r"^```(?:cpp|cmake)\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
    expect("the page has seven blocks of code", len(blocks) == 7, blocks)
    stage, include, stages, problem, first, ladder, line = blocks

    new_stage = chapters / EXAMPLE / re.search(r'"(.+)"', include)[1]
    new_stage.write_text(stage)
    changed = chapters / EXAMPLE / "chapter.cu"
    text = insert(changed.read_text(), '#include "problem.cuh"\n', include)
    with_stage, replaced = re.subn(r"^constexpr auto& kStages = .*?;\n", stages, text, flags=re.S | re.M)
    expect("there is a list of stages", replaced == 1, text)
    changed.write_text(with_stage)

    new = chapters / re.search(r"add_chapter\((\w+)\)", line)[1]
    new.mkdir()
    files = {"problem.cuh": problem, re.search(r'#include "(\d.+)"', ladder)[1]: first, "chapter.cu": ladder}
    for name, text in files.items():
        (new / name).write_text(text)
    return [new_stage, changed, *(new / name for name in files)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        chapters = pathlib.Path(folder) / "chapters"
        shutil.copytree(ROOT / "chapters" / EXAMPLE, chapters / EXAMPLE)
        files = follow(chapters)
        for path in files:
            if path.name == "chapter.cu":
                done = run(COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-DDEVICE=cpu",
                           *(f"-I{ROOT / part}" for part in INCLUDES), "-x", "c++", path)
                expect(f"{path.parent.name} compiles", done.returncode == 0, done.stderr)
        if shutil.which("clang-format"):
            shutil.copy(ROOT / ".clang-format", folder)
            done = run("clang-format", "--dry-run", "--Werror", *files)
            expect("all is formatted", done.returncode == 0, done.stderr)


main()
