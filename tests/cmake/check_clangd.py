"""Editors with clangd show no errors in exercises and stages, in a build with nvcc and in one without."""

import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import copy_tree, expect, run, skip


def faults(copy, file):
    """The errors and warnings that clangd shows in a file."""
    # --check also tries refactorings; those of line 1 are enough.
    done = run("clangd", f"--check={file}", "--check-lines=1-1", cwd=copy)
    shown = [line for line in done.stderr.splitlines() if re.search(r"\] Line \d+: ", line)]
    return [f"{file.name}: {line}" for line in shown]


def pretend_nvcc(copy, files):
    """A compile_commands.json as a build with nvcc writes it: with options that clang does not know."""
    options = "--default-stream=per-thread --extended-lambda -lineinfo -Xcompiler=-Wall -x cu -c"
    entries = [{"directory": str(copy), "file": str(file), "command": f"nvcc {options} {file}"}
               for file in files]
    (copy / "build").mkdir(exist_ok=True)
    (copy / "build/compile_commands.json").write_text(json.dumps(entries))


def main():
    if not shutil.which("clangd"):
        skip("there is no clangd")
    with tempfile.TemporaryDirectory() as temporary:
        copy = pathlib.Path(temporary).resolve() / "workbook"
        copy_tree(copy)
        files = []
        for chapter in sorted(file.parent for file in (copy / "chapters").glob("*/chapter.cu")):
            # An exercise that its reader has not broken: the solution, in the exercise's place.
            exercise = min((chapter / "exercises").glob("*.cuh"))
            shutil.copy(copy / "solutions" / chapter.name / exercise.name, exercise)
            files += [exercise, chapter / "chapter.cu", *sorted(chapter.glob("01_*.cuh")),
                      *chapter.glob("*.gpu.cuh"), *sorted(chapter.glob("*.sm90a.cuh"))[:1]]
        for with_nvcc in False, True:
            if with_nvcc:
                pretend_nvcc(copy, files)
            found = [fault for file in files for fault in faults(copy, file)]
            builds = "with nvcc" if with_nvcc else "without nvcc"
            expect(f"no errors in {len(files)} files, {builds}", not found, "\n".join(found))
        # Without our settings clangd does find errors: that it finds none above means something.
        (copy / ".clangd").unlink()
        expect("without .clangd there are some", faults(copy, files[0]), files[0])


main()
