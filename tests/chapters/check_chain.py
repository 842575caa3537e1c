"""Chapter 02, stages 4 and 5: the compiler's kernel for a chain has the instructions of the one by hand.

    python3 tests/chapters/check_chain.py    exit status 4 where there is no nvcc
"""

import collections
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

CHAPTER = "chapters/02_add_mul_exp"
LOAD = "ld.global.nc.v4.f32"  # of 16 bytes
SOURCE = """#include "04_float4.cuh"
#include "05_chain.cuh"
namespace gpu::add_mul_exp {
template __global__ void elementwise<Chain<Add, Twice, Exp>, float, float>(float*, int, const float*,
                                                                           const float*);
}
"""


def instructions(kernel):
    """How often each instruction stands in a kernel.

    Conversions of addresses are left out: they become no code, and `__restrict__` and `__ldg` need them at
    different places.
    """
    lines = re.findall(r"^\s+(?:@\S+ )?([a-z][\w.]*)[ ;].*$", kernel, re.M)
    return collections.Counter(name for name in lines if not name.startswith("cvta"))


def main():
    if not shutil.which("nvcc"):
        skip("there is no nvcc")
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = pathlib.Path(folder) / "both.cu", pathlib.Path(folder) / "both.ptx"
        source.write_text(SOURCE)
        # Relative paths: nvcc fails at quotes and brackets in the name of a folder.
        compiled = run("nvcc", "-std=c++20", "-arch=sm_90a", "-ptx", "-I.", "-Icommon", "-Icommon/kernels",
                       f"-I{CHAPTER}", "-o", ptx, source, cwd=ROOT)
        expect("both kernels compile", compiled.returncode == 0, compiled.stderr)
        kernels = {"by hand" if "vectorised" in body.split("(")[0] else "of the chain": instructions(body)
                   for body in ptx.read_text().split(".entry")[1:]}
    for name, counts in kernels.items():
        print(f"{name}: {sum(counts.values())} instructions, {counts[LOAD]} loads of 16 bytes")
    expect("there are two kernels, one by hand and one of the chain", len(kernels) == 2, kernels)
    by_hand = kernels["by hand"]
    expect("the one by hand has two loads of 16 bytes", by_hand[LOAD] == 2, by_hand)
    expect("the other has the same instructions", kernels["of the chain"] == by_hand, kernels)


main()
