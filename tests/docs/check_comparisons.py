"""Tables of the pages compare stages that compute the same, and show no difference where samples overlap.

    python3 tests/docs/check_comparisons.py
"""

import json
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

DATA = "plots/data/card/05_linear_gelu.json"


def stage(name, output, p25, median, p75):
    return {"name": name, "output": output, "idea": "", "status": "ok", "kernels": 1,
            "ceiling_us": {"median": 1.0},
            "traffic": {"expected_read_bytes": 4000, "expected_write_bytes": 1000},
            "time_us": {"median": median, "p25": p25, "p75": p75, "samples": 25}}


def in_rounds(name, burst, sustained):
    """A stage as newer files hold it, with the sample of each round."""
    clocks = {"sm_clock_mhz": 1500.0, "power_w": 690.0}
    made = stage(name, "y", min(burst), sorted(burst)[3], max(burst))
    made["time_us"]["each"] = burst
    return {**made, "time_sustained_us": {"median": sorted(sustained)[3], "each": sustained},
            "burst": clocks, "sustained": clocks}


RUN = {
    "schema": 1, "chapter": "05_linear_gelu", "shape": [8, 8, 8], "dtype": "float32",
    "commit": "0123456789ab", "date": "2026-01-01",
    "device": {"kind": "gpu", "name": "a card", "driver": "1"},
    "stages": [stage("slow", "y", 19.0, 20.0, 21.0), stage("fast", "y", 9.0, 10.0, 11.0),
               stage("as_fast", "y", 10.5, 11.5, 12.0), stage("tanh", "y_tanh", 7.0, 8.0, 9.0),
               in_rounds("ours", [10.0, 20.0, 10.0, 20.0, 10.0, 20.0, 10.0], [30.0] * 7),
               in_rounds("library", [11.0, 22.0, 11.0, 22.0, 11.0, 22.0, 11.0], [31.0, 29.0] * 3 + [30.0])]}


def page_with(quotation):
    """Exit status, and README.md after update.py, or what it said."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "update.py", folder / "docs")
        (folder / DATA).parent.mkdir(parents=True)
        (folder / DATA).write_text(json.dumps([RUN]))
        for script in (ROOT / "plots").glob("*.py"):
            shutil.copy(script, folder / "plots")
        (folder / "README.md").write_text(f"<!-- {quotation} -->\n\n```text\n```\n")
        done = run(sys.executable, folder / "docs" / "update.py", folder)
        return done.returncode, (folder / "README.md").read_text() + done.stderr


def check(what, quotation, status, *texts):
    code, output = page_with(quotation)
    expect(what, code == status and all(text in output for text in texts),
           f"exit status {code}, wanted {status} and {texts}:\n{output}")


check("a share of another stage's speed", f"shares: {DATA} 8x8x8 fast slow", 0, "200.0%")
check("... is the same where the samples overlap", f"shares: {DATA} 8x8x8 fast as_fast", 0, "     same\n")
check("... of a stage that computes something else is refused", f"shares: {DATA} 8x8x8 tanh slow", 2,
      "README.md quotes", "tanh computes y_tanh and slow y: compare stages that compute the same")
check("a saving, of the first stage's time", f"saved: {DATA} slow fast", 0, "10.00", "50.0%")
check("... is none where the samples overlap", f"saved: {DATA} as_fast fast", 0, "none")
check("... is measured round by round where the samples are known, although they overlap",
      f"shares: {DATA} 8x8x8 ours library", 0, "110.0%")
check("sustained: ratios of each regime, with their intervals", f"sustained: {DATA} 8x8x8 library", 0,
      "1.100 (1.100 to 1.100)", "same (0.967 to 1.033)", "1500")
