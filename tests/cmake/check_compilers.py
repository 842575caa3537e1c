"""Built by g++ and by clang, the CPU device counts the same and finds the same.

    python3 tests/cmake/check_compilers.py BUILD COMPILER

BUILD is a build folder whose bin/ has cpu_counts, made by COMPILER. The other compiler builds that program
and the tests of the CPU device in BUILD/other-compiler; those tests hold every count and every finding. It
also builds files with a main of their own.
"""

import json
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

OLDEST = {"g++": 12, "clang++": 14}

# Kernels whose counts differ, and why. docs/cpu_device.md names them as well.
DIFFERENT = {
    "load in both branches": "clang makes one load of those in the two branches of an if, as nvcc does",
}


def version(compiler):
    """The major version, None when the compiler is not installed."""
    if not shutil.which(compiler):
        return None
    return int(re.match(r"\d+", run(compiler, "-dumpversion").stdout)[0])


def other(compiler):
    """The other compiler; ends the test where there is none that is new enough."""
    is_clang = "clang" in run(compiler, "--version").stdout
    name = "g++" if is_clang else "clang++"
    found = version(name)
    if found is None:
        skip(f"{name} is not installed")
    if found < OLDEST[name]:
        skip(f"{name} {found} is too old: {OLDEST[name]} is needed")
    return name


def build(compiler, folder):
    """Builds there what is compared."""
    expect(f"{compiler} is configured",
           *succeeds("cmake", "--preset", "default", "-B", folder, f"-DCMAKE_CXX_COMPILER={compiler}",
                     "-DWORKBOOK_GPU=OFF"))
    expect(f"{compiler} builds the counted kernels and the tests of the CPU device",
           *succeeds("ninja", "-C", folder, "cpu_counts", "cpu_device_tests"))


def succeeds(*command):
    done = run(*command, cwd=ROOT)
    return done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def counts(folder):
    done = run(folder / "bin" / "cpu_counts")
    expect(f"{folder.name}/bin/cpu_counts runs", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def differences(ours, theirs):
    """The kernels whose counts differ, with what differs."""
    return {name: {key: (row[key], theirs[name][key]) for key in row if theirs[name][key] != row[key]}
            for name, row in ours.items() if theirs[name] != row}


def check_programs(compiler, folder):
    """Files with a main of their own: what `./workbook play` does with them, in that build."""
    for name, text in (("features", "caught features"), ("groups", "part of a warp 0")):
        source = ROOT / "tests" / "data" / "programs" / f"{name}.cu"
        (folder / "program.0.options").write_text("-include play/program/program.hpp\n")
        (folder / "program.0.cu").write_text(f'#include "{source}"\n')
        expect(f"{compiler} builds {name}.cu", *succeeds("ninja", "-C", folder, "play_program"))
        done = run(folder / "bin" / "play_program", source)
        expect(f"built by {compiler}, {name}.cu runs", done.returncode == 0 and text in done.stdout,
               done.stdout + done.stderr)


def main():
    here, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    another = other(compiler)
    there = here / "other-compiler"
    build(another, there)

    ours, theirs = counts(here), counts(there)
    expect("both count the same kernels", ours and list(ours) == list(theirs))
    found = differences(ours, theirs)
    unknown = {name: found[name] for name in found if name not in DIFFERENT}
    expect(f"of {len(ours)} kernels, {len(ours) - len(DIFFERENT)} have the same counts", not unknown,
           "\n".join(f"{name}: {compiler} and {another} count {difference}"
                     for name, difference in unknown.items()))
    equal = [name for name in DIFFERENT if name not in found]
    expect("the others are known to differ", not equal, f"they no longer do: {', '.join(equal)}")
    page = " ".join((ROOT / "docs/cpu_device.md").read_text().split())
    unnamed = [name for name in DIFFERENT if f"`{name}`" not in page]
    expect("docs/cpu_device.md names them", not unnamed, ", ".join(unnamed))

    tests = run(there / "bin" / "cpu_device_tests", cwd=ROOT, env=os.environ | {"NO_COLOR": "1"})
    expect(f"built by {another}, the CPU device passes its tests", tests.returncode == 0,
           tests.stdout[-8000:])
    check_programs(another, there)
    return 0


sys.exit(main())
