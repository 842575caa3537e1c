"""Files include only files of their own layer or a lower one; kernel files reach no third party's header."""

import os
import pathlib
import re
import subprocess
import sys

COMPILER = sys.argv[1]
THIRD_PARTIES = ("/boost/", "/CLI/", "/fmt/", "/nlohmann/", "/catch2/")
# Ours, but not for kernels: what belongs to the harness, and what holds code that is not traced.
ALLOWED_OURS = ("chapters/", "solutions/", "common/device.hpp", "common/chapter.hpp", "common/attention.hpp",
                "common/exercise.hpp", "common/play.hpp", "common/play_memory.hpp", "common/cpu/cuda.hpp",
                "common/cpu/dialect.hpp", "common/cpu/cuda_headers/cuda/atomic",
                "common/cpu/bfloat16.hpp", "common/cpu/float16.hpp", "common/cpu/half.hpp",
                "common/cpu/math.hpp", "common/cpu/pipeline.hpp", "common/cpu/runtime.hpp",
                "common/cpu/unsupported.hpp", "common/cpu/vector_types.hpp", "common/cpu/warp.hpp",
                "common/cpu/wmma.hpp", "common/kernels/")
# From the lowest layer to the highest: which folders the files of a folder may include.
MAY_INCLUDE = {
    "common": {"common"},  # its top level and common/kernels
    "common/cpu": {"common", "common/cpu"},
    "common/gpu": {"common", "common/gpu"},
    "common/published": {"common", "common/cpu", "common/published"},
    "common/harness": {"common", "common/cpu", "common/gpu", "common/published", "common/harness"},
    "cli": {"common", "common/harness", "cli"},
    "chapters": {"common", "common/gpu", "chapters"},
    "solutions": {"common", "common/gpu", "chapters", "solutions"},
}
# The one header that picks a device.
PICKS_A_DEVICE = {"common/device.hpp": {"common/cpu", "common/gpu"}}


def layer(path):
    """The folder of MAY_INCLUDE that a file belongs to."""
    folder = "/".join(path.parts[:2]) if path.parts[0] == "common" else path.parts[0]
    return folder if folder in MAY_INCLUDE else "common"


def included(path, name):
    """The file that `#include "name"` in `path` means, in whichever folder of ours it is; None if in none."""
    folders = [path.parent, pathlib.Path("common"), pathlib.Path("common/kernels"), pathlib.Path("cli"),
               pathlib.Path("chapters") / (path.parts[1] if len(path.parts) > 2 else "")]
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
    for path, name in (("common/cpu/x.hpp", "harness/errors.hpp"), ("common/x.hpp", "workbook.hpp"),
                       ("common/harness/x.cpp", "state.hpp"), ("common/kernels/x.hpp", "cpu/device.hpp"),
                       ("common/gpu/x.hpp", "cpu/counts.hpp"), ("common/cpu/x.hpp", "no_such_file.hpp"),
                       ("common/cpu/x.hpp", "../harness/errors.hpp"),
                       ("chapters/01_multiply_add/x.cuh", "harness/backend.hpp")):
        if not list(wrong_layers(pathlib.Path(path), f'#include "{name}"\n')):
            sys.exit(f"this check does not notice that {path} includes {name}")
    tops = ("common", "cli", "chapters", "solutions")
    files = [p for top in tops for p in sorted(pathlib.Path(top).rglob("*"))
             if p.suffix in (".hpp", ".cpp", ".cu", ".cuh") and "exercises" not in p.parts]
    wrong = [remark for path in files for remark in wrong_layers(path, path.read_text())]
    print("\n".join(wrong + [f"{len(files)} files, {len(wrong)} of their includes are wrong"]))
    return len(wrong)


def reached(source):
    call = [COMPILER, "-std=c++20", "-Icommon", "-Icommon/kernels",
            "-idirafter", "common/cpu/cuda_headers", "-DDEVICE=cpu", "-M", "-x", "c++", source]
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
