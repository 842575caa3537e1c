"""Everything that only a machine with a GPU can test, in one command, and what of it could not be run.

    cmake --preset default && ninja -C build on_gpu && python3 tests/on_gpu.py

Runs gpu_tests, the graders of all exercises, every chapter at odd sizes, the
operators for PyTorch where that is installed, and compute-sanitizer's checks of all stages at odd sizes. The
exit status is 0 if all that ran was right, 1 if something was wrong or nothing could be run, 2 for wrong
usage, and 3 without a GPU.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Sizes that leave parts of vectors, warps, tiles and clusters empty, by the form of a chapter's --size. With
# --quick, the last of each alone.
SIZES = {"N": ("1", "1023", "4099"),
         "RxC": ("1x1", "2x70001", "3x1001"),
         "MxKxN": ("1x1x1", "65x130x67", "300x200x520"),
         "GxRxC": ("1x1x8", "2x6x1008", "1x5x1032"),
         "HxGxQxKxD": ("1x1x1x1x1", "3x1x65x130x40", "4x2x300x520x128")}
# Sizes that only some stages are run at: blocks of an H200 share steps of a tile there.
MORE_SIZES = {"06_tensor_cores": (("17000x1544x248", "10_stream_k,10_tanh"),)}

# Under compute-sanitizer, programs of several GPUs take ten times as long as others: fewer sizes, our stages.
OUR_STAGES = "1,2,3,4,5,6,9,10"
SANITIZED_SIZES = {"10_several_gpus": (("1x5x1032", OUR_STAGES), ("2x6x1008", OUR_STAGES))}

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
QUICK_TOOLS = ("memcheck", "racecheck")
# synccheck keeps a table of mbarriers. With the size that it has by itself, it overflows in some runs of
# chapter 08 (4 of 10 on an H100, CUDA 13.0), and the program ends with an unspecified launch failure. Sixteen
# programs with 1024 each take 38 GB of the GPU's memory; with 4096 they took 112 GB.
OPTIONS = {"synccheck": ("--num-cuda-barriers", "1024")}
# initcheck does not know what the TMA writes to global memory, and another GPU to this one's, as NCCL does.
WITHOUT_INITCHECK = ("06_tensor_cores", "10_several_gpus")
NOTHING_FOUND = re.compile(r"(ERROR|RACECHECK) SUMMARY: 0 ")

# What nothing else may run beside: tests that compare times, and kernels of several GPUs that wait for each
# other, which need both GPUs at once, while these take turns at what runs on them.
ALONE = re.compile(r"gpu_tests alone|10_several_gpus")
NO_GPU, SKIPPED = 3, 4  # exit statuses of the chapters' programs, and of tests that cannot be run here
MOST_LINES = 40  # of the output of something that failed


@dataclasses.dataclass
class Task:
    """A command of one part, and the seconds that it may take. `judge` gets its exit status and output, and
    says "ok", "failed" or "not run"."""
    part: str
    name: str
    command: list
    limit: float
    judge: object = None


@dataclasses.dataclass
class Result:
    task: Task
    verdict: str
    output: str
    seconds: float


# --- What is to be run ---


def by_status(status, output):
    if status in (NO_GPU, SKIPPED):
        return "not run"
    return "ok" if status == 0 else "failed"


def by_summary(status, output):
    """compute-sanitizer can end with 0 without having checked anything."""
    if "Device not supported" in output or status in (NO_GPU, SKIPPED):
        return "not run"
    return "ok" if status == 0 and NOTHING_FOUND.search(output) else "failed"


def chapters_in(programs):
    return sorted(path for path in programs.glob("[0-9][0-9]_*") if os.access(path, os.X_OK))


def sizes_of(program, quick):
    """[(size, stages)] for a chapter; no stages mean all of them."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60).stdout
    form = re.search(r"--size +(\S+)", text)
    if not form or form.group(1) not in SIZES:
        raise SystemExit(f"on_gpu.py: {program} --help names no --size of {', '.join(SIZES)}")
    sizes = SIZES[form.group(1)]
    plain = [(size, "") for size in (sizes[-1:] if quick else sizes)]
    return plain + ([] if quick else list(MORE_SIZES.get(program.name, ())))


def chapter_command(program, size, stages):
    return [program, "--device", "gpu", "--size", size] + (["--stage", stages] if stages else [])


def chapter_tasks(programs, options):
    """Each chapter at all sizes; at its last one it also times its stages, which takes longest."""
    tasks = []
    for program in chapters_in(programs):
        sizes = sizes_of(program, options.quick)
        last = [size for size, stages in sizes if not stages][-1]
        for size, stages in sizes:
            only_verified = ["--take-turns"] if size != last else []
            tasks.append(Task("chapters", f"{program.name} {size}",
                              chapter_command(program, size, stages) + only_verified, 120))
    return tasks


def grader_tasks(programs, options):
    """Those that run beside others do not time."""
    checker = ROOT / "tests" / "solutions" / "check_grader.py"
    return [Task("graders", program.name.removeprefix("gpu_versions_"),
                 [sys.executable, checker, "--gpu", program,
                  *([] if ALONE.search(program.name) else ["untimed"])], 120)
            for program in sorted(programs.glob("gpu_versions_*"))]


def gpu_tests_tasks(programs, options):
    program = programs / "gpu_tests"
    return [Task("gpu_tests", "gpu_tests alone", [program, "[alone]"], 300),
            Task("gpu_tests", "gpu_tests", [program, "~[alone]"], 300)] if program.exists() else []


def pytorch_tasks(programs, options):
    checker = ROOT / "tests" / "pytorch" / "check_ops.py"
    folder = programs.parent / "tests" / "pytorch"
    answers = ROOT / "tests" / "pytorch" / "check_exercises.py"
    sanitizer = find_sanitizer()
    memcheck = ["--memcheck", sanitizer] if sanitizer else []
    return [Task("pytorch", "operators", [sys.executable, checker, folder, *memcheck], 600),
            Task("pytorch", "answers to 09.1", [sys.executable, answers, "--gpu", "1_operator"], 300)]


def find_sanitizer():
    places = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")] + ["/usr/local/cuda"]
    path = os.pathsep.join([os.environ.get("PATH", "")] + [f"{place}/bin" for place in places if place])
    return shutil.which("compute-sanitizer", path=path)


def sanitizer_tasks(programs, options):
    sanitizer = find_sanitizer()
    if not sanitizer:
        return []
    return [Task("sanitizer", f"{tool} {program.name} {size}",
                 [sanitizer, "--tool", tool, *OPTIONS.get(tool, ()), "--error-exitcode", "1",
                  *chapter_command(program, size, stages), "--once"], 180, by_summary)
            for tool in (QUICK_TOOLS if options.quick else TOOLS)
            for program in chapters_in(programs)
            if tool != "initcheck" or program.name not in WITHOUT_INITCHECK
            for size, stages in SANITIZED_SIZES.get(program.name) or sizes_of(program, options.quick)]


# The longest first.
MAKERS = {"gpu_tests": gpu_tests_tasks, "pytorch": pytorch_tasks, "graders": grader_tasks,
          "chapters": chapter_tasks, "sanitizer": sanitizer_tasks}


def reason_for_nothing(part, programs):
    if part == "sanitizer" and not find_sanitizer():
        return "compute-sanitizer is not installed (it is part of the CUDA Toolkit)"
    return f"{programs} has no such programs: ninja -C {programs.parent} on_gpu"


# --- Running it ---


def output_of(command, limit):
    """Exit status and output; None for the status where it was still running after `limit` seconds. Its
    children end with it."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", cwd=ROOT,
                          start_new_session=True) as process:
        try:
            output = process.communicate(timeout=limit)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


def run(task, limit=None):
    limit, began = limit or task.limit, time.monotonic()
    try:
        status, output = output_of(task.command, limit)
        verdict = "failed" if status is None else (task.judge or by_status)(status, output)
    except OSError as error:
        status, output, verdict = 127, f"{task.command[0]}: {error.strerror}", "failed"
    if verdict == "failed":
        ended = f"exit status {status}" if status is not None else f"still running after {limit:g} s"
        output += f"\n({ended})"
    return Result(task, verdict, output.strip(), time.monotonic() - began)


def run_all(tasks, jobs, limit):
    """The results in the order in which they come, each announced with a line."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        started = [pool.submit(run, task, limit) for task in tasks]
        for future in concurrent.futures.as_completed(started):
            result = future.result()
            results.append(result)
            print(f"{result.verdict:8} {result.seconds:6.1f} s  {result.task.part}: {result.task.name}",
                  flush=True)
    return results


def has_gpu(programs):
    """Whether a chapter finds a GPU; None where there is no chapter to ask."""
    for program in chapters_in(programs):
        size = sizes_of(program, quick=True)[0][0]
        return run(Task("", "", chapter_command(program, size, "") + ["--once"], 60)).verdict != "not run"
    return None


# --- What came of it ---


def last_lines(output):
    lines = output.splitlines()
    left_out = [f"... ({len(lines) - MOST_LINES} lines before)"] if len(lines) > MOST_LINES else []
    return "\n".join("    " + line for line in left_out + lines[-MOST_LINES:])


def reason_in(output):
    """The last line that the program itself has written, or else the sanitizer's."""
    lines = output.splitlines() or ["it does not say why"]
    return ([line for line in lines if not line.startswith("=========")] or lines)[-1]


def count(results, verdict, part):
    return sum(result.verdict == verdict and result.task.part == part for result in results)


def show(parts, results, missing, seconds):
    for result in results:
        if result.verdict == "failed":
            print(f"\nFAILED {result.task.part}: {result.task.name}\n"
                  f"  {' '.join(map(str, result.task.command))}\n{last_lines(result.output)}")
    print(f"\nIn {seconds:.0f} s:")
    for part in parts:
        numbers = [f"{count(results, verdict, part)} {verdict}" for verdict in ("ok", "failed", "not run")
                   if count(results, verdict, part)]
        print(f"  {part:10} {', '.join(numbers) or 'not run: ' + missing[part]}")
    for result in results:
        if result.verdict == "not run":
            reason = reason_in(result.output)
            print(f"  not run: {result.task.part}: {result.task.name}: {reason}")


def parts_of(text):
    parts = text.split(",")
    unknown = [part for part in parts if part not in MAKERS]
    if unknown:
        raise ValueError(unknown)
    return parts


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR",
                        help="the build folder (default: build)")
    parser.add_argument("--only", type=parts_of, default=list(MAKERS), metavar="PART,...",
                        help=f"of {', '.join(MAKERS)}")
    parser.add_argument("--quick", action="store_true", help="one size per chapter, memcheck and racecheck")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1), metavar="N",
                        help="commands at the same time (default: at most 16)")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help="for every command (default: 120 to 600, as the part needs)")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error("--jobs: expected at least 1")
    if options.limit is not None and options.limit <= 0:
        parser.error("--limit: expected more than 0 seconds")
    programs = options.build.resolve() / "bin"
    found = has_gpu(programs)
    if found is None:
        parser.error(f"--build: there are no chapters in {programs}: ninja -C {options.build} on_gpu")
    if not found:
        print("on_gpu.py: the chapters find no GPU: there is none, or they were built without a GPU side",
              file=sys.stderr)
        sys.exit(NO_GPU)
    began = time.monotonic()
    tasks = {part: MAKERS[part](programs, options) for part in options.only}
    missing = {part: reason_for_nothing(part, programs) for part in options.only if not tasks[part]}
    everything = [task for part in options.only for task in tasks[part]]
    results = run_all([task for task in everything if ALONE.search(task.name)], 1, options.limit)
    results += run_all([task for task in everything if not ALONE.search(task.name)], options.jobs,
                       options.limit)
    show(options.only, results, missing, time.monotonic() - began)
    verdicts = {result.verdict for result in results}
    sys.exit(1 if "failed" in verdicts or "ok" not in verdicts else 0)


if __name__ == "__main__":
    main()
