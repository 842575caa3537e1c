"""The launcher on machines that lack something, from other folders, and in a path with spaces.

python3 tests/cli/check_launcher.py "A FOLDER": makes a fresh copy of the tree there, builds it and leaves it.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, copy_tree, expect, run

TOOLS = ("sh dirname sed cat cmp cut sort head tail id nproc grep env tr uname printf ls rm mkdir "
         "mkfifo mv readlink sleep kill timeout wc find ninja git cmake c++ g++ flock setsid").split()


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


def in_one_line(text):
    """The launcher's messages are broken into lines."""
    return " ".join(text.split())


def has_need(need, **environment):
    """Whether the launcher's function of that name finds the header, library or file."""
    functions = re.findall(r"^(?:have|in_prefixes|has_\w+)\(\) (?:\{.*\}|[({]\n(?:.*\n)*?[)}])$",
                           (ROOT / "workbook").read_text(), re.M)
    script = "\n".join(functions) + '\nhas_need "$1"'
    done = run("sh", "-euc", script, "sh", need, env={**os.environ, **environment})
    expect("its functions work", done.returncode in (0, 1) and not done.stderr, done.stderr)
    return done.returncode == 0


def script(folder, name, text):
    """A program of one shell script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def doctors_machines(folder):
    """The doctor's words on machines with a tool that is too old."""
    for tool, text, wanted in (
            ("cmake", "echo cmake version 3.18.4",
             "missing: nothing can be built: cmake version 3.18.4 is too old, 3.25 or newer is needed"),
            ("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9",
             "missing: stages are counted, not timed (nvidia-smi fails: NVIDIA-SMI has failed)"),
            ("nvidia-smi", "echo A card, 1.2", "A card, 1.2")):
        machine = folder / f"a machine with its own {tool}"
        machine.mkdir(exist_ok=True)
        for link in machine.iterdir():
            link.unlink()
        path = path_without(machine, tool)
        script(machine, tool, text)
        status, output = workbook("doctor", PATH=path)
        expect(f"the doctor knows of {tool}: {text}", status == 0 and wanted in output, output)


def asks_cmake_first(folder):
    """Libraries that only CMake finds are not requested; where CMake fails, the packages are."""
    copy = folder / "libraries elsewhere"
    copy.mkdir()
    text = (ROOT / "workbook").read_text()
    assert "/usr:/usr/local:" in text
    (copy / "workbook").write_text(text.replace("/usr:/usr/local:", "/nowhere:"))
    (copy / "workbook").chmod(0o755)
    machine = folder / "its tools"
    machine.mkdir()
    path = path_without(machine, "cmake", "ninja")
    script(copy / "build" / "bin", "workbook", "echo it runs")
    # The launcher's own program has been compiled.
    for name in ("common/system/build_inputs.cpp", "common/system/read_file.cpp",
                 "build/build_inputs.source"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).touch()
    script(copy / "build", "build_inputs", "exit 0")
    script(machine, "ninja", "exit 0")
    answer = "[ \"$1\" != --version ] || { echo cmake version 3.25.1; exit; }\n"
    script(machine, "cmake", answer + "echo CMake has no fmt; exit 1")
    status, output = workbook("list", script=copy / "workbook", PATH=path, WORKBOOK_NO_INSTALL="1")
    named = status == 3 and "libfmt-dev" in output
    expect("where CMake finds no libraries, packages are named", named, output)
    script(machine, "cmake", answer + f": > '{copy}/build/build.ninja'")
    status, output = workbook("list", script=copy / "workbook", PATH=path, WORKBOOK_NO_INSTALL="1")
    expect("where it finds them, none is", status == 0 and "it runs" in output, output)


def folder_names(folder):
    """A folder that CMake cannot build in needs a link; where that cannot be made, one sentence says so."""
    for name in ("a;b", "ha#sh"):
        (folder / name).mkdir()
        (folder / name / "workbook").write_text((ROOT / "workbook").read_text())
        (folder / name / "workbook").chmod(0o755)
        status, output = workbook("list", script=folder / name / "workbook", TMPDIR="/nonexistent")
        refused = status == 3 and "for the ; or # in its name" in in_one_line(output)
        expect(f"a folder called {name} without a link is refused", refused, output)


def another_user(clone):
    """After `sudo ./workbook`, files of the build are root's; the last log is of a build that went well."""
    if os.geteuid() != 0 or not which("setpriv"):
        print("not tried, since it needs root and setpriv: a checkout that belongs to another user")
        return
    other = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    done = run(*other, clone / "workbook", "list", cwd="/")
    output = done.stdout + done.stderr
    if "Permission denied" in output and "cannot open" in output:
        print("not tried, since another user cannot enter the folder: a checkout of another user")
        return
    said = "cannot be written by" in output and "sudo chown -R" in output
    expect("a checkout that belongs to another user is named, and no old log shown",
           done.returncode == 3 and said and "ninja" not in output, output)
    own = clone.parent / "own"
    shutil.rmtree(own, ignore_errors=True)  # of an earlier run of this test
    own.mkdir()
    shutil.copy(clone / "workbook", own)
    shutil.chown(own, 65534)
    own.chmod(0o555)
    done = run(*other, own / "workbook", "list", cwd="/")
    named = f"{own} cannot be written, though it is yours" in in_one_line(done.stderr)
    expect("a folder of one's own that is write-protected is named", done.returncode == 3 and named, done)


def held_lock(clone):
    """Another terminal builds: the launcher says so at once, and goes on afterwards."""
    holder = subprocess.Popen(["flock", clone / "build/workbook.lock", "sleep", "5"])
    time.sleep(0.5)
    waiting = subprocess.Popen([clone / "workbook", "list"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    line = waiting.stderr.readline()
    seconds = time.monotonic() - begin
    named = "another ./workbook is building here; waiting for it" in line and seconds < 2
    expect("a build in another terminal is named at once", named, f"{line} after {seconds:.1f} s")
    waiting.stderr.read()
    expect("... and it goes on when that is done", waiting.wait() == 0 and holder.wait() == 0)


def copied_and_moved(clone, folder):
    """A copied checkout works on its own files, a moved one as well, and the state comes along."""
    reader_file = "chapters/01_multiply_add/exercises/1_fuse.cuh"
    solution = (clone / "solutions/01_multiply_add/1_fuse/solution.cuh").read_text()
    copy = folder / "it's R&D $x br(ack)et"
    shutil.copytree(clone, copy, symlinks=True)
    before = {path.name for path in clone.iterdir()}
    done = run(copy / "build/bin/workbook", "reset", "01.1", cwd="/")
    expect("the program of a copied build does not touch the original", done.returncode == 3
           and "has been copied or moved" in " ".join(done.stderr.split()), done.stderr)
    (copy / reader_file).write_text(solution)
    status, output = workbook("check", "01.1", script=copy / "workbook")
    expect("a copied checkout, called it's R&D $x br(ack)et, checks its own file",
           status == 0 and "Solved." in output and "made in another folder" in in_one_line(output), output)
    expect("... and the original has not changed", {path.name for path in clone.iterdir()} == before, before)

    moved = folder / "moved; and # in its name"
    copy.rename(moved)
    status, output = workbook("list", script=moved / "workbook")
    kept = "[x] 01.1_fuse" in output and "CMake Error" not in output
    expect("a moved one knows what is solved", status == 0 and kept, output)
    expect("... and makes no folder at its old place", not copy.exists())
    (moved / reader_file).write_text(solution.replace("if (i < n)", "if (i <= n)"))
    status, output = workbook("check", "01.1", script=moved / "workbook", CCACHE_DISABLE="1")
    expect("... whatever its name, and names files as ever",
           status == 1 and f"({reader_file}:" in output, output)
    link = folder / "a link"
    link.symlink_to(moved / "workbook")
    (moved / reader_file).write_text(solution)
    status, output = workbook("check", "01.1", script=link)
    known = "Solved." in output and "another folder" not in output
    expect("the launcher works through a link", status == 0 and known, output)


def copy_as_found(clone):
    """The tree as it is, without what is built, and with the exercises as a reader finds them first."""
    copy_tree(clone)
    for solution in ROOT.glob("solutions/*/*/solution.*"):
        skeleton = run(ROOT / "workbook", "skeleton", solution, check=True).stdout
        exercise = (clone / "chapters" / solution.parent.parent.name / "exercises" /
                    (solution.parent.name + solution.suffix))
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
        named = status == 3 and "CMake 3.18.4 is too old; 3.25" in in_one_line(output)
        expect("an old CMake is named", named, output)

        (folder / "old compiler").mkdir()
        path = path_without(folder / "old compiler", "c++")
        for macro, named in (("__GNUC__ 9", "g++ 9"), ("__clang_major__ 11", "clang 11")):
            old = folder / "old compiler" / "c++"
            old.write_text(f"#!/bin/sh\necho '#define {macro}'\n")
            old.chmod(0o755)
            status, output = workbook("list", script=copy / "workbook", PATH=path)
            sentence = f"the compiler c++ is {named}, which is too old; g++ 12, clang 14"
            expect(f"{named} is named as too old", status == 3 and sentence in in_one_line(output), output)

        doctors_machines(folder)
        asks_cmake_first(folder)
        folder_names(folder)

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
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        status = subprocess.run([ROOT / "workbook", "--version"], stdout=closed).returncode
    expect("... quietly when nobody reads it", status == -signal.SIGPIPE, status)
    for words in (["--version"], ["doctor"], ["test", "--help"], ["list"]):
        done = run(ROOT / "workbook", *words, preexec_fn=lambda: os.close(1))
        expect(f"{words[0]} has status 3 where standard output is closed", done.returncode == 3, done)
    changes = (ROOT / "CHANGELOG.md").read_text()
    expect("... which CHANGELOG.md describes", f"\n## {version.split()[-1]}\n" in changes, version)

    clone = pathlib.Path(sys.argv[1])  # in a path with spaces
    copy_as_found(clone)
    status, output = workbook("run", "01", "--size", "1000", "--device", "cpu", script=clone / "workbook")
    built = status == 0 and "05_reduced" in output
    expect("a fresh copy in a path with spaces builds and runs", built, output)
    programs = sorted(path.name for path in (clone / "build/bin").iterdir())
    expect("... and builds that chapter alone", programs == ["01_multiply_add", "workbook"], programs)
    with open(clone / "cli/main.cpp", "a") as source:
        source.write("\n")
    # With ccache it might take less than the second after which progress is shown.
    output = workbook("list", script=clone / "workbook", CCACHE_DISABLE="1")[1]
    progress = re.search(r"building the workbook \[\d+/\d+\]", output)
    expect("... and says how far it has come", progress, output)
    status, output = workbook("--version", script=clone / "build/bin/workbook")
    expect("... and the program has the launcher's version", status == 0 and output == version, output)

    another_user(clone)
    held_lock(clone)
    with tempfile.TemporaryDirectory() as temporary:
        copied_and_moved(clone, pathlib.Path(temporary))


main()
