"""Every header compiles on its own: kernels' for the CPU device, those in common/gpu where there is nvcc."""

import pathlib
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import run

COMPILER = sys.argv[1]
PLAIN = ("measurement.hpp", "statistics.hpp", "timing.hpp")  # of common/gpu: no CUDA in them
INCLUDES = ["-std=c++20", "-Icommon", "-Icommon/kernels"]
HOST = [COMPILER, *INCLUDES, "-Wall", "-fsyntax-only", "-x", "c++"]
NVCC = ["nvcc", *INCLUDES, "-x", "cu", "--ptx", "-arch=compute_90a", "-o", "/dev/null"]
GPU_ONLY = (".gpu.cuh", ".sm90a.cuh")


def command(header):
    if header.parent.name == "gpu" and header.name not in PLAIN or header.name.endswith(GPU_ONLY):
        return [*NVCC, header]
    if header.suffix == ".cuh":
        return [*HOST, "-DDEVICE=cpu", "-Wno-unknown-pragmas", header]
    return [*HOST, header]


def compiles(header):
    call = command(header)
    if not shutil.which(call[0]):
        return f"skipped, there is no {call[0]}: {header}"
    done = run(*call)
    # "#pragma once in main file" is what compiling a header means.
    output = "\n".join(line for line in done.stderr.splitlines() if "pragma once" not in line)
    return "" if done.returncode == 0 else f"does not compile on its own: {header}\n{output}"


def main():
    tops = ("common", "chapters", "solutions")
    headers = [p for top in tops for p in pathlib.Path(top).rglob("*.[hc][pu][ph]")]
    # What a reader is working on may be broken; stand-ins for CUDA's headers may be nothing but an error.
    headers = [p for p in headers if not {"exercises", "cuda_headers"} & set(p.parts)]
    with ThreadPoolExecutor(2) as pool:
        remarks = [remark for remark in pool.map(compiles, headers) if remark]
    print("\n".join(remarks))
    wrong = [remark for remark in remarks if not remark.startswith("skipped")]
    print(f"{len(headers)} headers, {len(wrong)} wrong")
    return 1 if wrong or not headers else 0


sys.exit(main())
