"""Chapter 10 with a process for each GPU: one for each GPU, two at the most.

    check_processes.py PROGRAM

They meet through a file and at an address. Their stages must be right, and none may be left out for want of
the others' memory.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from checks import expect, skip

PROGRAM = sys.argv[1]
STAGES = "02_one_shot,04_two_shot,07_nccl"


def gpus():
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return len([device for device in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if device])
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60).stdout
    except OSError:
        listed = ""
    return listed.count("UUID: GPU-")


def run_processes(count, *arguments, **variables):
    """Exit statuses and outputs of the processes."""
    ranks = [{"RANK": str(me), "WORLD_SIZE": str(count), "LOCAL_RANK": str(me)} for me in range(count)]
    started = [subprocess.Popen([PROGRAM, "--size", "6x1008", "--stage", STAGES, *arguments],
                                env={**os.environ, **rank, **variables}, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT) for rank in ranks]
    outputs = [process.communicate(timeout=120)[0] for process in started]
    return [process.returncode for process in started], outputs


def check(how, count, *arguments, **variables):
    statuses, outputs = run_processes(count, *arguments, **variables)
    rows = [line.split() for line in outputs[0].splitlines()]
    timed = [row[0] for row in rows if row[2:] == ["us"]]
    expect(f"{count} processes that meet {how}", not any(statuses) and ",".join(timed) == STAGES
           and not any(outputs[1:]), outputs)


if not gpus():
    skip("there is no GPU")
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "id"
    check("through a file", min(gpus(), 2), "--id-file", str(file))
    expect("the file is gone", not file.exists(), folder)
check("at an address", min(gpus(), 2), MASTER_ADDR="127.0.0.1", MASTER_PORT="29600")
