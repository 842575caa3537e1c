"""plots/peers.py on a machine without PyTorch or with files that it cannot use: what it says, and its exit status."""

import json
import pathlib
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(__file__).parents[2] / "plots/peers.py"


def peers(folder):
    done = subprocess.run([sys.executable, PEERS, folder], capture_output=True, text=True)
    return done.returncode, done.stderr


def expect(what, found, status, text):
    if found[0] != status or text not in found[1]:
        sys.exit(f"FAILED: {what}: exit status {found[0]}, wanted {status} and {text!r}:\n{found[1]}")
    print(f"ok: {what}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    stored = folder / "01_multiply_add.json"
    expect("a folder without a chapter", peers(folder), 2, "has no JSON of a chapter with peers: 01_multiply_add")
    for text in ("", "[", "{}", "7", '[{"schema": 1}]'):
        stored.write_text(text)
        expect(f"a file that holds {text!r}", peers(folder), 2, f"{stored} is not the JSON of a chapter (docs/json.md)")
    stored.write_text(json.dumps([{"schema": 1, "chapter": "01_multiply_add", "device": {"name": "none", "driver": "0"},
                                   "shape": [1024], "dtype": "float32", "commit": "0"}]))
    status, message = peers(folder)
    if status != 3 or not any(text in message for text in ("PyTorch is not installed", "finds no GPU", "is from none")):
        sys.exit(f"FAILED: without PyTorch, a GPU or the chapter's card: exit status {status}:\n{message}")
    print(f"ok: {message.strip()}")
