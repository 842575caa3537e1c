"""The kernel that the compiler makes of a chain has the instructions of the one written by hand (chapter 02, stages 4 and 5).

    python3 tests/chapters/check_chain.py    exit status 4 where there is no nvcc
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "02_add_mul_exp"
SOURCE = """#include "4_float4.cuh"
#include "5_chain.cuh"
namespace gpu::add_mul_exp {
template __global__ void elementwise<Chain<Add, Twice, Exp>, float, float>(float*, int, const float*, const float*);
}
"""


def instructions(kernel):
    """How often each instruction stands in a kernel. Conversions of addresses become no code: `__restrict__` and `__ldg` ask
    for them at different places."""
    lines = re.findall(r"^\s+(?:@\S+ )?([a-z][\w.]*)[ ;].*$", kernel, re.M)
    return collections.Counter(name for name in lines if not name.startswith("cvta"))


def main():
    if not shutil.which("nvcc"):
        print("SKIPPED: there is no nvcc")
        sys.exit(4)
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = pathlib.Path(folder) / "both.cu", pathlib.Path(folder) / "both.ptx"
        source.write_text(SOURCE)
        call = ["nvcc", "-std=c++20", "-arch=sm_90a", "-ptx", f"-I{ROOT / 'common'}", f"-I{CHAPTER}", "-o", ptx, source]
        subprocess.run(call, check=True)
        kernels = {"by hand" if "vectorised" in body.split("(")[0] else "of the chain": instructions(body)
                   for body in ptx.read_text().split(".entry")[1:]}
    for name, counts in kernels.items():
        print(f"{name}: {sum(counts.values())} instructions, {counts['ld.global.nc.v4.f32']} loads of 16 bytes")
    if len(kernels) != 2 or kernels["by hand"]["ld.global.nc.v4.f32"] != 2 or kernels["by hand"] != kernels["of the chain"]:
        sys.exit(f"FAILED: they differ: {kernels}")


main()
