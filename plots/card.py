"""The GPU of this machine: which one it is, and what Nsight Compute counts on it."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

from results import fail


def output_of(*call):
    """A program's output. If it fails, this program ends with its words, and its exit status if 2 or 3."""
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode:
        fail(done.returncode if done.returncode in (2, 3) else 1, (done.stderr or done.stdout).strip())
    return done.stdout


def run_of(program, size, *arguments):
    """The JSON object of a chapter's program on the GPU at one size, as docs/json.md describes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        output_of(program, "--device", "gpu", "--size", size, "--json", path, *arguments)
        return json.loads(path.read_text())[0]


def ready_stages(program, size):
    """The stages that the program runs on this device at that size."""
    return [stage["name"] for stage in run_of(program, size)["stages"] if stage["status"] == "ok"]


def card():
    """The first GPU's name, its driver's version, and the UUID that tells it from others of that name.
    CUDA_VISIBLE_DEVICES can say which one is the first; nvidia-smi does not read it."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    listed = output_of("nvidia-smi", *(["-i", chosen] if chosen else []),
                       "--query-gpu=name,driver_version,uuid", "--format=csv,noheader")
    name, driver, uuid = listed.splitlines()[0].split(", ")
    return {"gpu": name, "driver": driver, "uuid": uuid}


def profiled(metrics, program, *arguments):
    """The counts of ncu for each launch of a program, in order: [(the kernel's name, {metric: value})]."""
    return launches_in(ncu_csv(metrics, program, *arguments))


def ncu_csv(metrics, program, *arguments):
    """What ncu prints about a program, in its units, with the program's own output between."""
    return output_of("ncu", "--clock-control", "none", "--csv", "--print-units", "base",
                     "--metrics", ",".join(metrics), program, *arguments)


def launches_in(output):
    """The same as `profiled`, from what `ncu_csv` has returned."""
    launches = {}
    for row in csv.DictReader(line for line in output.splitlines() if line.startswith('"')):
        _, values = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
        values[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return list(launches.values())
