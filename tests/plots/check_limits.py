"""plots/limits.py with bad input, and on a machine without ncu: what it says, and its exit status."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect_refused


def refused(what, arguments, path, status, text):
    expect_refused(what, ROOT / "plots" / "limits.py", arguments, status, text,
                   env={**os.environ, "PATH": str(path)})


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program, stored = folder / "chapter", folder / "stored.json"
    script(program, "exit 0")
    refused("no ncu", [program, "1024", stored], folder, 3, "limits.py: ncu is not installed")
    script(folder / "ncu", "echo no driver >&2; exit 1")
    script(folder / "nvidia-smi", """case "$*" in
*name,driver_version,uuid*) echo "a card, 1, GPU-01234567-89ab-cdef-0123-456789abcdef" ;;
*) exit 1 ;;
esac""")
    here = json.loads(subprocess.run(
        [sys.executable, "-c", "import json, card; print(json.dumps(card.card()))"], check=True,
        capture_output=True,
        env={**os.environ, "PATH": str(folder), "PYTHONPATH": str(ROOT / "plots")}).stdout)
    if here != {"gpu": "a card", "driver": "1", "uuid": "GPU-01234567-89ab-cdef-0123-456789abcdef"}:
        sys.exit(f"the card of this machine: {here}")
    refused("no program", [folder / "none", "1024", stored], folder, 2, "none is not a program")
    refused("too few arguments", [program], folder, 2, "size, output")
    refused("ncu that fails", [program, "1024", stored, "1_naive"], folder, 1, "limits.py: no driver")
    script(program, """for path; do :; done
echo '[{"stages": [{"name": "1_naive", "status": "ok"}]}]' > "$path.partial"
/bin/mv "$path.partial" "$path\"""")
    refused("the stages of a program, and ncu that fails", [program, "1024", stored], folder, 1,
            "limits.py: no driver")
    stored.write_text("[")
    refused("a file of another kind", [program, "1024", stored], folder, 2,
            f"not what an earlier call has stored: {stored}: not JSON")
