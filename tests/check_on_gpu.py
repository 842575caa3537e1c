"""tests/on_gpu.py with programs that only pretend: what it runs, what it says, and its exit status."""

import pathlib
import sys
import tempfile

from checks import ROOT, expect, run

ON_GPU = ROOT / "tests" / "on_gpu.py"
CHAPTER = """
[ "$1" = --help ] && { echo '  --size RxC                  size of the problem'; exit 0; }
echo "$0 $*" >> "$CALLS"
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


class Machine:
    """A folder with a build and a PATH of its own."""

    def __init__(self, folder):
        self.folder, self.bin, self.path = folder, folder / "build" / "bin", folder / "path"
        self.calls = folder / "calls"
        program(self.bin / "04_rows", CHAPTER)
        program(self.bin / "gpu_tests", "sleep 0.2; echo $0 >> \"$CALLS\"")
        program(self.bin / "gpu_versions_04_rows_1_tree",
                """echo '{"solution": {"message": "", "time_us": 0}}' > "$1" """)
        program(self.path / "compute-sanitizer", """
while [ "${1#--}" != "$1" ]; do shift 2; done
"$@" || exit 1
echo '========= ERROR SUMMARY: 0 errors'""")

    def on_gpu(self, *arguments):
        self.calls.write_text("")
        env = {"PATH": f"{self.path}:/usr/bin:/bin", "CALLS": str(self.calls), "CUDA_HOME": "/nowhere",
               "WORKBOOK_TORCH": "/nowhere"}
        return run(sys.executable, ON_GPU, "--build", self.folder / "build", *arguments, env=env)


def check(what, change, status, *texts, arguments=()):
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder))
        change(machine)
        done = machine.on_gpu(*arguments)
        output = done.stdout + done.stderr
        expect(what, done.returncode == status and all(text in output for text in texts),
               f"exit status {done.returncode}, wanted {status} and {texts}:\n{output}")
        return machine.calls.read_text(), output


def nothing(machine):
    pass


calls, _ = check("all that is right", nothing, 0, "gpu_tests  2 ok", "graders    1 ok", "chapters   3 ok",
                 "sanitizer  12 ok", "not run: pytorch: operators: SKIPPED: /nowhere")
expect("the sanitizer runs each stage once at every size",
       all(calls.count(f"--device gpu --size {size} --once") >= 4 for size in ("1x1", "2x70001", "3x1001")),
       calls)
expect("gpu_tests that compare times come before everything else but the question whether there is one",
       calls.splitlines()[1].endswith("/gpu_tests"), calls)
expect("a chapter times its stages at one size, and verifies them at the others",
       all(f"--size {size}\n" in calls for size in ("1x1 --take-turns", "2x70001 --take-turns", "3x1001")),
       calls)
calls, _ = check("--quick", nothing, 0, "chapters   1 ok", "sanitizer  2 ok", arguments=["--quick"])
expect("--quick takes one size", "2x70001" not in calls, calls)
_, output = check("--only", nothing, 0, "graders    1 ok", arguments=["--only", "graders,chapters"])
expect("--only leaves the others out", "sanitizer" not in output and "gpu_tests" not in output, output)

check("a test that fails",
      lambda m: program(m.bin / "gpu_tests", "echo 'y[3] is wrong'; exit 1"), 1,
      "FAILED gpu_tests: gpu_tests", "y[3] is wrong", "(exit status 1)", "chapters   3 ok")
check("a grader that refuses a solution",
      lambda m: program(m.bin / "gpu_versions_04_rows_1_tree",
                        """echo '{"solution": {"message": "out[1] is 2", "time_us": 0}}' > "$1" """), 1,
      "FAILED graders: 04_rows_1_tree", "out[1] is 2")
check("an exercise that asks for numbers",
      lambda m: program(m.bin / "gpu_versions_04_rows_1_tree", "exit 4"), 0,
      "graders    1 not run", "SKIPPED: this exercise asks for numbers")
check("a chapter that is wrong at one size",
      lambda m: program(m.bin / "04_rows", CHAPTER + 'case "$*" in *2x70001*) echo wrong; exit 1;; esac'), 1,
      "FAILED chapters: 04_rows 2x70001", "chapters   2 ok, 1 failed")
check("no sanitizer", lambda m: (m.path / "compute-sanitizer").unlink(), 0,
      "sanitizer  not run: compute-sanitizer is not installed")
check("synccheck has room for all barriers",
      lambda m: program(m.path / "compute-sanitizer", """
case "$*" in *synccheck*) case "$*" in *--num-cuda-barriers*) ;; *) exit 1 ;; esac ;; esac
echo 'ERROR SUMMARY: 0 errors'"""), 0, "sanitizer  12 ok")
check("a sanitizer that finds a race",
      lambda m: program(m.path / "compute-sanitizer",
                        "echo '========= RACECHECK SUMMARY: 1 hazard displayed'; exit 1"), 1,
      "FAILED sanitizer: racecheck 04_rows 1x1", "1 hazard displayed")
check("a sanitizer that says nothing", lambda m: program(m.path / "compute-sanitizer", "exit 0"), 1,
      "FAILED sanitizer: memcheck 04_rows 1x1")
check("a sanitizer that does not know the GPU",
      lambda m: program(m.path / "compute-sanitizer", "echo 'Error: Device not supported'; exit 1"), 0,
      "sanitizer  12 not run", "Device not supported")
check("a GPU side that was not built", lambda m: (m.bin / "gpu_tests").unlink(), 0,
      "gpu_tests  not run: ", "ninja -C")
check("a sanitizer's program that takes more GPUs than there are",
      lambda m: program(m.path / "compute-sanitizer",
                        "echo 'that takes 2 GPUs'; echo '========= ERROR SUMMARY: 0 errors'; exit 3"), 0,
      "sanitizer  12 not run", "that takes 2 GPUs")
check("nothing that can be run", lambda m: (m.bin / "gpu_tests").unlink(), 1, "gpu_tests  not run: ",
      arguments=["--only", "gpu_tests"])
check("no GPU", lambda m: program(m.bin / "04_rows", CHAPTER + "exit 3"), 3, "find no GPU")
check("no chapters", lambda m: (m.bin / "04_rows").unlink(), 2, "there are no chapters in")
check("a part that does not exist", nothing, 2, "--only", arguments=["--only", "graders,docs"])
check("no jobs", nothing, 2, "--jobs", arguments=["--jobs", "0"])

check("a program that hangs is ended, and the others go on",
      lambda m: program(m.bin / "gpu_tests", "echo begun; sleep 60"), 1,
      "begun", "(still running after 5 s)", "chapters   3 ok",
      arguments=["--only", "gpu_tests,chapters", "--limit", "5"])
check("no limit", nothing, 2, "--limit", arguments=["--limit", "0"])
