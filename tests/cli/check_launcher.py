"""The launcher on machines that lack something, from other folders, and in a path with spaces.

python3 tests/cli/check_launcher.py "A FOLDER": makes a fresh copy of the tree there, builds it and leaves it.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, copy_tree, expect, run

TOOLS = ("sh dirname sed cat sort head id nproc grep env tr uname printf ls rm mkdir readlink sleep kill "
         "find ninja git cmake c++ g++").split()


def which(tool):
    return next((f"{d}/{tool}" for d in os.environ["PATH"].split(":") if os.path.exists(f"{d}/{tool}")), None)


def path_without(folder, *lacking):
    """A folder of links to the tools that the launcher uses, but for those that are lacking."""
    for tool in TOOLS:
        if tool not in lacking and which(tool):
            (folder / tool).symlink_to(which(tool))
    return str(folder)


def workbook(*arguments, script=ROOT / "workbook", **environment):
    clean = {k: v for k, v in os.environ.items() if k not in ("CI", "WORKBOOK_NO_INSTALL")}
    done = run(script, *arguments, env={**clean, **environment}, cwd="/", stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def has_need(need, **environment):
    """Whether the launcher's function of that name finds the header, library or file."""
    functions = re.findall(r"^(?:have|in_prefixes|has_\w+)\(\) (?:\{.*\}|[({]\n(?:.*\n)*?[)}])$",
                           (ROOT / "workbook").read_text(), re.M)
    script = "\n".join(functions) + '\nhas_need "$1"'
    done = run("sh", "-euc", script, "sh", need, env={**os.environ, **environment})
    expect("its functions work", done.returncode in (0, 1) and not done.stderr, done.stderr)
    return done.returncode == 0


def copy_as_found(clone):
    """The tree as it is, without what is built, and with the exercises as a reader finds them first."""
    copy_tree(clone)
    for specification in ROOT.glob("solutions/*/*.check.cu"):
        solution = specification.with_name(specification.name.removesuffix(".check.cu") + ".cuh")
        skeleton = run(ROOT / "workbook", "skeleton", solution, check=True).stdout
        exercise = clone / "chapters" / solution.parent.name / "exercises" / solution.name
        exercise.parent.mkdir(parents=True, exist_ok=True)
        exercise.write_text(skeleton)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)

        (folder / "no cmake").mkdir()
        path = path_without(folder / "no cmake", "cmake")
        status, output = workbook("list", WORKBOOK_NO_INSTALL="1", PATH=path)
        expect("a missing CMake is named", status == 3 and "cmake" in output, output)

        (folder / "no compiler").mkdir()
        path = path_without(folder / "no compiler", "c++", "g++")
        status, output = workbook("list", WORKBOOK_NO_INSTALL="1", PATH=path)
        expect("a missing compiler is named with its package", status == 3 and "g++" in output, output)
        status, output = workbook("doctor", PATH=path)
        cost = "missing: nothing can be built (g++)"
        expect("the doctor says what it costs", status == 0 and cost in output, output)

        (folder / "no doxygen").mkdir()
        status, output = workbook("docs", WORKBOOK_NO_INSTALL="1", PATH=path_without(folder / "no doxygen"))
        expect("a missing Doxygen is named", status == 3 and " doxygen" in output, output)

        # A CMake that is too old, in a copy that has not been configured.
        copy = folder / "an old machine"
        copy.mkdir()
        (copy / "workbook").write_text((ROOT / "workbook").read_text())
        (copy / "workbook").chmod(0o755)
        (folder / "old cmake").mkdir()
        path = path_without(folder / "old cmake", "cmake")
        old = folder / "old cmake" / "cmake"
        old.write_text("#!/bin/sh\necho cmake version 3.18.4\n")
        old.chmod(0o755)
        status, output = workbook("list", script=copy / "workbook", PATH=path)
        expect("an old CMake is named", status == 3 and "CMake 3.18.4 is too old; 3.25" in output, output)

        (folder / "old compiler").mkdir()
        path = path_without(folder / "old compiler", "c++")
        for macro, named in (("__GNUC__ 9", "g++ 9"), ("__clang_major__ 11", "clang 11")):
            old = folder / "old compiler" / "c++"
            old.write_text(f"#!/bin/sh\necho '#define {macro}'\n")
            old.chmod(0o755)
            status, output = workbook("list", script=copy / "workbook", PATH=path)
            sentence = f"the compiler c++ is {named}, which is too old; g++ 12, clang 14"
            expect(f"{named} is named as too old", status == 3 and sentence in output, output)

        prefix = folder / "a prefix"
        for name in ("include/only_here/header.hpp", "lib/libonly_here.so", "share/only_here/style.css"):
            (prefix / name).parent.mkdir(parents=True)
            (prefix / name).touch()
        for need in ("only_here/header.hpp", "libonly_here", "share/only_here/style.css"):
            expect(f"{need} is not found by itself", not has_need(need), need)
            expect("... but in CMAKE_PREFIX_PATH", has_need(need, CMAKE_PREFIX_PATH=str(prefix)), need)
            both = f"/nowhere:{prefix}"
            expect("... also as the second folder", has_need(need, CMAKE_PREFIX_PATH=both), need)

    status, output = workbook("list")
    expect("it works from another folder", status == 0 and "01_multiply_add" in output, output)

    status, version = workbook("--version")
    pattern = r"Kernel Fusion Workbook \d+\.\d+\.\d+\n"
    expect("it says its version", status == 0 and re.fullmatch(pattern, version), version)
    changes = (ROOT / "CHANGELOG.md").read_text()
    expect("... which CHANGELOG.md describes", f"\n## {version.split()[-1]}\n" in changes, version)

    clone = pathlib.Path(sys.argv[1])  # in a path with spaces
    copy_as_found(clone)
    status, output = workbook("run", "01", "--size", "1000", "--device", "cpu", script=clone / "workbook")
    built = status == 0 and "5_reduced" in output
    expect("a fresh copy in a path with spaces builds and runs", built, output)
    progress = re.search(r"building 01_multiply_add \[\d+/\d+\]", output)
    expect("... and says how far it has come", progress, output)
    programs = sorted(path.name for path in (clone / "build/bin").iterdir())
    expect("... and builds that chapter alone", programs == ["01_multiply_add", "workbook"], programs)
    status, output = workbook("--version", script=clone / "build/bin/workbook")
    expect("... and the program has the launcher's version", status == 0 and output == version, output)


main()
