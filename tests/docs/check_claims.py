"""The program claims: every line fits 80 columns, and what it cannot do it refuses.

python3 tests/docs/check_claims.py build/bin
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

PROGRAM = pathlib.Path(sys.argv[1]).resolve() / "claims"
CLAIMS = re.findall(r'claim == "(\w+)"', (ROOT / "docs/claims/main.cpp").read_text())

expect("there are claims", len(CLAIMS) >= 6, CLAIMS)
for claim in CLAIMS:
    done = run(PROGRAM, claim)
    wide = [line for line in done.stdout.splitlines() if len(line) > 80]
    expect(f"{claim} fits 80 columns", done.returncode == 0 and done.stdout and not wide, wide)
done = run(PROGRAM)
expect("no claim is refused", done.returncode == 2 and "usage: claims" in done.stderr, done.stderr)
