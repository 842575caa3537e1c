"""plots/limits.py with bad input, and on a machine without ncu: what it says, and its exit status."""

import os
import pathlib
import subprocess
import sys
import tempfile

LIMITS = pathlib.Path(__file__).parents[2] / "plots/limits.py"


def expect(what, arguments, path, status, text):
    environment = {**os.environ, "PATH": str(path)}
    done = subprocess.run([sys.executable, LIMITS, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode != status or text not in done.stderr:
        sys.exit(f"FAILED: {what}: exit status {done.returncode}, wanted {status} and {text!r}:\n{done.stderr}")
    print(f"ok: {what}")


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program, stored = folder / "chapter", folder / "stored.json"
    script(program, "exit 0")
    expect("no ncu", [program, "1024", stored], folder, 3, "limits.py: ncu is not installed")
    script(folder / "ncu", "echo no driver >&2; exit 1")
    script(folder / "nvidia-smi", "echo a card, 1")
    expect("no program", [folder / "none", "1024", stored], folder, 2, "none is no program")
    expect("too few arguments", [program], folder, 2, "size, output")
    expect("ncu that fails", [program, "1024", stored, "1_naive"], folder, 1, "limits.py: no driver")
    stored.write_text("[")
    expect("a file of another kind", [program, "1024", stored], folder, 2, f"{stored} is not what an earlier call has stored")
