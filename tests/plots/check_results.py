"""plots/results.py: the bytes of a stage, in files of today and in older ones."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

sys.path.insert(0, str(ROOT / "plots"))
from results import dram_bytes, moved_bytes

# A stage that reads 100 bytes three times and 8 bytes of weights ten times.
older = {"expected_read_bytes": 380, "expected_write_bytes": 100, "expected_repeated_bytes": 72}
newer = {**older, "expected_dram_bytes": 208}
oldest = {"expected_read_bytes": 380, "expected_write_bytes": 100}
expect("every pass counts in a prediction", moved_bytes({"traffic": newer}) == 408)
expect("a rate counts what DRAM must do", dram_bytes({"traffic": newer}) == 208)
expect("an older file: as it was then", dram_bytes({"traffic": older}) == 408)
expect("a file without repeated bytes", dram_bytes({"traffic": oldest}) == 480)
