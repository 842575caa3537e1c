"""Files include only files of their own layer or a lower one; kernel files reach no third party's header."""

import os
import pathlib
import re
import subprocess
import sys

COMPILER = sys.argv[1]
THIRD_PARTIES = ("/boost/", "/CLI/", "/fmt/", "/nlohmann/", "/catch2/")
# Ours that kernel files may reach: neither what belongs to the harness, nor code that is not traced.
ALLOWED_OURS = ("chapters/", "solutions/", "common/device.hpp", "common/chapter.hpp", "common/attention.hpp",
                "common/exercise.hpp", "common/half_arrays.hpp", "common/play.hpp",
                "common/play_memory.hpp", "common/kernels/",
                "cpu_device/dialect/")


def may_include():
    """By folder: the folders that its files may include, from the table of CONTRIBUTING.md."""
    page = pathlib.Path("CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\S+)` \|.*\| ([^|]*)\|$", page, re.MULTILINE)
    allowed = {}
    for folder, last in rows:
        named = re.findall(r"`(\S+)`", last)
        deeper = [] if "alone" in last else [allowed[name] for name in named]
        allowed[folder] = {folder, *named}.union(*deeper)
    return allowed


MAY_INCLUDE = may_include()
# The one header that picks a device.
PICKS_A_DEVICE = {"common/device.hpp": {"cpu_device/dialect", "common/gpu"}}


def layer(path):
    """The folder of MAY_INCLUDE that a file belongs to: the longest that it is in."""
    return max((folder for folder in MAY_INCLUDE if path.is_relative_to(folder)), key=len)


def included(path, name):
    """The file that `#include "name"` in `path` means, in whichever folder of ours it is; None if in none."""
    chapter = f"chapters/{path.parts[1]}" if len(path.parts) > 2 else "."
    folders = [path.parent, *map(pathlib.Path, (".", "common", "common/kernels", "cli", chapter))]
    found = (folder / file for folder in folders for file in (name, name + ".in"))  # .in: cli/config.hpp
    return next((pathlib.Path(os.path.normpath(file)) for file in found if file.is_file()), None)


def wrong_layers(path, text):
    """The faults of the `#include "..."` lines of a file with that path and text."""
    allowed = MAY_INCLUDE[layer(path)] | PICKS_A_DEVICE.get(str(path), set())
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
        file = included(path, name)
        if file is None:
            yield f"{path} includes {name}, which is not found"
        elif layer(file) not in allowed:
            yield f"{path} includes {file}, which is in a higher layer"


def check_layers():
    """Returns how many includes are wrong."""
    for path, name in (("cpu_device/x.hpp", "harness/options.hpp"), ("common/x.hpp", "workbook.hpp"),
                       ("common/harness/x.cpp", "state.hpp"),
                       ("common/kernels/x.hpp", "cpu_device/counts.hpp"),
                       ("common/gpu/x.hpp", "cpu_device/counts.hpp"),
                       ("cpu_device/x.hpp", "no_such_file.hpp"),
                       ("cpu_device/races/x.hpp", "../running/device.hpp"),
                       ("cpu_device/memory/x.cpp", "cpu_device/findings/notes.hpp"),
                       ("cpu_device/running/x.cpp", "cpu_device/builtins/trace.hpp"),
                       ("chapters/01_multiply_add/x.cuh", "harness/options.hpp")):
        if not list(wrong_layers(pathlib.Path(path), f'#include "{name}"\n')):
            sys.exit(f"this check does not notice that {path} includes {name}")
    tops = ("common", "cpu_device", "play", "cli", "chapters", "solutions")
    files = [p for top in tops for p in sorted(pathlib.Path(top).rglob("*"))
             if p.suffix in (".hpp", ".cpp", ".cu", ".cuh") and "exercises" not in p.parts]
    wrong = [remark for path in files for remark in wrong_layers(path, path.read_text())]
    print("\n".join(wrong + [f"{len(files)} files, {len(wrong)} of their includes are wrong"]))
    return len(wrong)


def reached(source):
    call = [COMPILER, "-std=c++20", "-I.", "-Icommon", "-Icommon/kernels",
            "-idirafter", "cpu_device/dialect/cuda_headers", "-DDEVICE=cpu", "-M", "-x", "c++", source]
    rule = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    return rule.replace("\\\n", " ").split()[1:]


def check_reached():
    """Returns how many headers kernel files reach that they should not."""
    sources = sorted(p for top in ("chapters", "solutions") for p in pathlib.Path(top).rglob("*.cu*")
                     if "exercises" not in p.parts and not p.name.endswith((".gpu.cuh", ".sm90a.cuh")))
    wrong = 0
    for source in sources:
        for header in reached(source):
            theirs = any(party in header for party in THIRD_PARTIES)
            ours = not header.startswith("/")
            if theirs or (ours and not header.startswith(ALLOWED_OURS)):
                print(f"{source} reaches {header}")
                wrong += 1
    print(f"{len(sources)} files, {wrong} headers that they should not reach")
    return wrong if sources else 1


sys.exit(1 if check_layers() + check_reached() else 0)
