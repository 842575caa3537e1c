"""Stages, solutions and chapter.cu may reach our own headers and the C++ compiler's, and no third party's."""

import pathlib
import subprocess
import sys

COMPILER = sys.argv[1]
THIRD_PARTIES = ("/boost/", "/CLI/", "/fmt/", "/nlohmann/", "/catch2/")
# Ours, but not for kernels: what belongs to the harness, and what holds code that is not traced.
ALLOWED_OURS = ("chapters/", "solutions/", "common/device.hpp", "common/chapter.hpp", "common/exercise.hpp",
                "common/play.hpp", "common/play_memory.hpp", "common/cpu/dialect.hpp", "common/cpu/bfloat16.hpp",
                "common/cpu/float16.hpp", "common/cpu/half.hpp", "common/cpu/math.hpp", "common/cpu/pipeline.hpp",
                "common/cpu/runtime.hpp", "common/cpu/unsupported.hpp", "common/cpu/vector_types.hpp",
                "common/cpu/warp.hpp", "common/cpu/wmma.hpp", "common/kernels/")


def reached(source):
    call = [COMPILER, "-std=c++20", "-Icommon", "-Icommon/kernels", "-DDEVICE=cpu", "-M", "-x", "c++", source]
    rule = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    return rule.replace("\\\n", " ").split()[1:]


def main():
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
    return 1 if wrong or not sources else 0


sys.exit(main())
