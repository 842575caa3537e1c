"""Each feature that the CPU device does not support is a compile error that says so.

    python3 tests/cmake/check_unsupported.py COMPILER    compiles each snippet and looks for its message
    python3 tests/cmake/check_unsupported.py --list      the snippets with their messages, for the docs
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import run

FRAME = """#include "device.hpp"
{before}
namespace DEVICE {{
__global__ void kernel(float* out, int n) {{
  (void)n;
  {inside}
}}
{after}
}}
"""

# Code in a kernel, before it or after it, and a part of the message that it gives. Where the message is not
# ours but the compiler's, there are two: that of g++ and that of clang.
NO_TIME = "the CPU device does not measure time: time kernels on a GPU, with --device gpu"
NO_TEXTURES = "textures and surfaces are not supported: pass a pointer to the kernel"
NO_RUNTIME = "not in a kernel file, where memory is the program's to allocate"
IN_KERNEL = {
    "out[0] = clock64();": NO_TIME,
    "__nanosleep(100);": NO_TIME,
    'asm volatile("bar.sync 0;");': "inline PTX runs on a GPU alone: put it in *.sm90a.cuh",
    "out[0] = tex2D<float>(n, 1, 2);": NO_TEXTURES,
    "cudaTextureObject_t texture;": NO_TEXTURES,
    "out[0] = __shfl_down(out[0], 1);":
        "CUDA has removed it: use the function that ends in _sync, with a mask",
    "n = __match_any_sync(~0u, n);": "not supported: compare values with __shfl_sync or __ballot_sync",
    "n = __reduce_add_sync(~0u, n);": "not supported: add up with __shfl_xor_sync",
    "cudaDeviceSynchronize();": NO_RUNTIME,
    "kernel<<<1, 32>>>(out, n);": ("expected primary-expression before ‘<’ token", "expected expression"),
}
BEFORE = {
    "#include <cooperative_groups.h>":
        "cooperative groups are not supported: use __syncthreads, __syncwarp and the functions that end in "
        "_sync",
    "#include <cub/cub.cuh>": "CUB runs on a GPU alone: put what uses it in *.gpu.cuh",
    "extern __shared__ float s[];": ("conflicting specifiers in declaration",
                                     "cannot combine with previous 'extern' declaration specifier"),
    "__managed__ int counter;": "managed memory is not supported: list arrays in chapter.cu",
}
AFTER = {
    "void run(float* p) { cudaMalloc(&p, 4); }": NO_RUNTIME,
    "__global__ void __cluster_dims__(2, 1, 1) pair() {}":
        "clusters run on a GPU alone: put them in *.sm90a.cuh",
}
SUPPORTED = "out[0] = static_cast<float>(n);"


def errors(compiler, **parts):
    """The lines of the compiler's errors, [] when it has none."""
    source = FRAME.format(**{"before": "", "inside": SUPPORTED, "after": ""} | parts)
    done = run(compiler, "-std=c++20", "-fsyntax-only", "-I.", "-Icommon", "-Icommon/kernels",
               "-Icpu_device/dialect/cuda_headers", "-DDEVICE=cpu", "-x", "c++", "-", input=source,
               env=os.environ | {"LC_ALL": "C.UTF-8"})
    return [line for line in done.stderr.splitlines() if "error:" in line] if done.returncode else []


def main():
    groups = {"inside": IN_KERNEL, "before": BEFORE, "after": AFTER}
    rows = [(where, code, message) for where, group in groups.items() for code, message in group.items()]
    if sys.argv[1] == "--list":
        for _, code, message in rows:
            print(f"{code}\n    {message if isinstance(message, str) else message[0] + ' (g++)'}")
        return 0

    compiler = sys.argv[1]
    wrong = [f"the frame itself does not compile: {line}" for line in errors(compiler)]
    for where, code, message in rows:
        accepted = (message,) if isinstance(message, str) else message
        found = errors(compiler, **{where: code})
        if not any(text in line for line in found for text in accepted):
            wrong.append(f"{code}\n  should fail with: {' or: '.join(accepted)}\n  but gave: {found}")
    print("\n".join(wrong))
    print(f"{len(rows)} snippets, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
