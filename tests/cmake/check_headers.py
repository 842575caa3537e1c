"""Every header compiles on its own.

    python3 tests/cmake/check_headers.py c++     those for the host and for the CPU device
    python3 tests/cmake/check_headers.py nvcc    those for a GPU; exit status 4 where there is no nvcc
"""

import pathlib
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import run, skip

COMPILER = sys.argv[1]
FOR_GPU = COMPILER == "nvcc"
PLAIN = ("measurement.hpp", "resources.hpp", "sensors.hpp", "statistics.hpp", "streaming.hpp",
         "timing.hpp", "turns.hpp")  # of common/gpu: no CUDA in them
INCLUDES = ["-std=c++20", "-I.", "-Icommon", "-Icommon/kernels"]
HOST = [COMPILER, *INCLUDES, "-idirafter", "cpu_device/dialect/cuda_headers", "-Wall", "-fsyntax-only",
        "-x", "c++"]
NVCC = ["nvcc", *INCLUDES, "-x", "cu", "--ptx", "-arch=compute_90a", "-o", "/dev/null"]
GPU_ONLY = (".gpu.cuh", ".sm90a.cuh")


def is_for_gpu(header):
    return header.parent.name == "gpu" and header.name not in PLAIN or header.name.endswith(GPU_ONLY)


def needs_pytorch(header):
    """Such headers of chapter 09 are compiled with its library alone."""
    return "#include <torch/" in header.read_text()


def command(header):
    if FOR_GPU:
        return [*NVCC, header]
    if header.suffix == ".cuh":
        return [*HOST, "-DDEVICE=cpu", "-Wno-unknown-pragmas", header]
    return [*HOST, header]


def compiles(header):
    done = run(*command(header))
    # "#pragma once in main file" is what compiling a header means.
    output = "\n".join(line for line in done.stderr.splitlines() if "pragma once" not in line)
    return "" if done.returncode == 0 else f"does not compile on its own: {header}\n{output}"


def main():
    if not shutil.which(COMPILER):
        skip(f"there is no {COMPILER}")
    tops = ("common", "cpu_device", "play", "chapters", "solutions")
    headers = [p for top in tops for p in pathlib.Path(top).rglob("*") if p.suffix in (".hpp", ".cuh")]
    # The reader's exercises may be broken; stand-ins for CUDA's headers may be nothing but an error.
    headers = [p for p in headers if not {"exercises", "cuda_headers"} & set(p.parts)]
    headers = [p for p in headers if is_for_gpu(p) == FOR_GPU and not needs_pytorch(p)]
    with ThreadPoolExecutor(2) as pool:
        wrong = [remark for remark in pool.map(compiles, headers) if remark]
    print("\n".join(wrong))
    print(f"{len(headers)} headers, {len(wrong)} wrong")
    return 1 if wrong or not headers else 0


sys.exit(main())
