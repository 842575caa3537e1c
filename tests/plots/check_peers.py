"""plots/peers.py without PyTorch, or with files that it cannot use: what it says, and its exit status."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect_refused

PEERS = ROOT / "plots" / "peers.py"
CHAPTER = json.loads((ROOT / "plots" / "data" / "h200" / "01_multiply_add.json").read_text())[:1]

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    stored = folder / "01_multiply_add.json"
    expect_refused("a folder without a chapter", PEERS, [folder], 2,
                   "has no JSON of a chapter with peers: 01_multiply_add")
    for text, named in (("", "not JSON"), ("[", "not JSON"), ("{}", "expected a list of runs (docs/json.md)"),
                        ("7", "expected a list of runs"), ('[{"schema": 1}]', "[0].chapter")):
        stored.write_text(text)
        expect_refused(f"a file that holds {text!r}", PEERS, [folder], 2,
                       f"peers.py: {stored}: {named}")
    CHAPTER[0]["device"]["name"] = "none"
    stored.write_text(json.dumps(CHAPTER))
    expect_refused("no PyTorch, no GPU, or another card than the chapter's", PEERS, [folder], 3,
                   "PyTorch is not installed", "finds no GPU", "is from none")
