"""plots/results.py: the bytes of a stage, in files of today and in older ones."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect

sys.path.insert(0, str(ROOT / "plots"))
from results import RUN, TRACE, BadFile, dram_bytes, load, moved_bytes, require

# A stage that reads 100 bytes three times and 8 bytes of weights ten times.
older = {"expected_read_bytes": 380, "expected_write_bytes": 100, "expected_repeated_bytes": 72}
newer = {**older, "expected_dram_bytes": 208}
oldest = {"expected_read_bytes": 380, "expected_write_bytes": 100}
expect("every pass counts in a prediction", moved_bytes({"traffic": newer}) == 408)
expect("a rate counts what DRAM must do", dram_bytes({"traffic": newer}) == 208)
expect("an older file: as it was then", dram_bytes({"traffic": older}) == 408)
expect("a file without repeated bytes", dram_bytes({"traffic": oldest}) == 480)

# Names that become parts of file names: figures are written to `--out`, and nowhere else.


def refusal(form, value):
    try:
        require(value, form, "file")
    except BadFile as bad:
        return str(bad)
    return ""


for name in ("../../x", "/tmp/x", "01_x/../../y", "..", "", "01_", "01_x.json", "01_x\n", "01_" + "x" * 99):
    for form in (RUN, TRACE):
        found = refusal({"chapter": form["chapter"]}, {"chapter": name})
        expect(f"no chapter is called {name!r}", found.startswith("file.chapter: expected a name"), found)
for name in ("../x", "a/b", "", "1_x.svg"):
    found = refusal({"stages": [{"name": TRACE["stages"][0]["name"]}]}, {"stages": [{"name": name}]})
    expect(f"no traced stage is called {name!r}", found.startswith("file.stages[0].name: expected"), found)

with tempfile.TemporaryDirectory() as folder:
    deep = pathlib.Path(folder) / "deep.json"
    deep.write_text("[" * 100000)
    try:
        found = load(deep)
    except BadFile as bad:
        found = str(bad)
    expect("lists in lists without end", "nested too deeply" in found, found)
