"""The operators of chapter 09: values, gradients, fakes and errors, in a Python that has PyTorch.

    python3 tests/pytorch/check_ops.py FOLDER           builds the package in FOLDER, runs attention.py,
                                                        rewriting*.py and operators.py
    python3 tests/pytorch/check_ops.py FOLDER --cuda    compiles its GPU side for one architecture
    python3 tests/pytorch/check_ops.py FOLDER --all     2,000 random forwards and all states of the models,
                                                        with and without `rewrite`

With --memcheck PROGRAM, which is compute-sanitizer, each operator also runs under its memcheck.

Exit status 4 where there is no Python with PyTorch 2.10 or newer, or no nvcc for --cuda.
"""

import os
import pathlib
import shutil
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip
from package import build, torch_python

# In one process, because importing PyTorch and its compiler takes seconds. The first has several threads, and
# the last turns warnings into errors.
TESTS = """
import attention, rewriting, rewriting_around, rewriting_models, rewriting_fuzz, operators, workbook_ops
for tests in (attention, rewriting, rewriting_around, rewriting_models, rewriting_fuzz, operators):
    tests.main()
if workbook_ops.CUDA_AVAILABLE:
    rewriting_models.main(["--device", "cuda"])
"""
ALL = """
import rewriting_fuzz, rewriting_models
rewriting_fuzz.main(2000, 7)
rewriting_models.main(["--all"])
"""
MEMCHECK = "import attention, operators; attention.check_values(); operators.call_samples()"
NVCC = pathlib.Path("/usr/local/cuda/bin/nvcc")


def compile_cuda(python, folder):
    if run("sh", "-c", "command -v nvcc").returncode != 0 and not NVCC.exists():
        skip("there is no nvcc")
    package = build(python, folder, "-DWORKBOOK_OPS_CUDA=ON", "-DCMAKE_CUDA_ARCHITECTURES=90-real")
    loaded = run(python, "-c", "import workbook_ops; print(*workbook_ops.BUILT_FOR)",
                 env={**os.environ, "PYTHONPATH": str(package)})
    built_for = loaded.stdout == "cpu sm_90 sm_90a\n"
    expect("the library with its GPU side can be loaded, and says so", built_for, loaded.stderr)


def check_damaged(python, package, folder):
    """A library that was written in part would end Python without a word."""
    damaged = folder / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(package, damaged)
    library = damaged / "workbook_ops" / "_operators.so"
    for size in (library.stat().st_size // 2, 100, 0):
        os.truncate(library, size)
        done = run(python, "-c", "import workbook_ops", env={**os.environ, "PYTHONPATH": str(damaged)})
        expect(f"a library of which {size} bytes are there is refused",
               done.returncode == 1 and "_operators.so is damaged" in done.stderr, done.stderr)


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of the build")
    parser.add_argument("--cuda", action="store_true", help="the GPU side alone: it is compiled, not run")
    parser.add_argument("--memcheck", metavar="PROGRAM", help="compute-sanitizer")
    parser.add_argument("--all", action="store_true", help="what takes long, alone")
    arguments = parser.parse_args()
    if arguments.cuda and arguments.memcheck:
        parser.error("with --cuda nothing runs that --memcheck could check")
    folder = arguments.folder.resolve()
    python = torch_python()
    if arguments.cuda:
        return compile_cuda(python, folder)
    has_gpu = any(pathlib.Path("/dev").glob("nvidia[0-9]*"))
    package = build(python, folder, f"-DWORKBOOK_OPS_CUDA={'AUTO' if has_gpu else 'OFF'}")
    check_damaged(python, package, folder)
    # PyTorch's modules are compiled once: pip has not done it, and PYTHONDONTWRITEBYTECODE may forbid it.
    environment = {**os.environ, "PYTHONPATH": f"{package}:{ROOT / 'tests' / 'pytorch'}",
                   "PYTHONPYCACHEPREFIX": str(folder / "pycache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # Not captured: what is tested shows as it goes.
    status = subprocess.run([python, "-c", ALL if arguments.all else TESTS], env=environment).returncode
    if status == 0 and arguments.memcheck:
        # Each tensor has memory of its own then, so that an access beside it is seen.
        environment["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
        sanitizer = [arguments.memcheck, "--tool", "memcheck", "--error-exitcode", "1"]
        status = subprocess.run([*sanitizer, python, "-c", MEMCHECK], env=environment).returncode
    sys.exit(status)


main()
