"""./workbook play: kernels of the reader's own, right, wrong, and not even compiling.

python3 tests/cli/check_play.py COPY: the copy of the tree that tests/cli/check_launcher.py has made.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 4
COPY = pathlib.Path(sys.argv[1])
if not (COPY / "workbook").exists():
    print("SKIPPED: there is no copy of the tree")
    sys.exit(SKIPPED)

FILE = """#include "play.hpp"

namespace DEVICE {

__global__ void twice(const float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}

void play() {
  const int n = 1000;
  Array<float> x("x", n, [](int i) { return 0.5f * i; });
  Array<float> out("out", n);
  launch(twice, 4, 256, x.data(), out.data(), n);
  launch(twice, 4, 256, x.data() + 1, out.data(), n - 1);
  out.print(3);
}

}  // namespace DEVICE
"""


def expect(what, source, status, *texts, options=()):
    """Plays `source`, and returns what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mine.cu"
        path.write_text(source)
        done = subprocess.run([COPY / "workbook", "play", path, *options], capture_output=True, text=True)
    output = done.stdout + done.stderr
    missing = [text for text in texts if text not in output and text not in " ".join(output.split())]
    if done.returncode != status or missing:
        sys.exit(f"FAILED: {what}: exit status {done.returncode}, missing {missing}:\n{output}")
    print("ok:", what, flush=True)
    return done.stdout


expect("the counts of each launch", FILE, 0, "out: 1 2 3 ...", "twice 4 256 32 125 100% 32 125 100% 0",
       "twice 4 256 32 156 80%")
report = json.loads(expect("... as JSON", FILE, 0, options=["--json"]))
if [launch["load_sectors"] for launch in report["launches"]] != [125, 156] or report["finding"]:
    sys.exit(f"FAILED: the JSON: {report}")
expect("a finding", FILE.replace("if (i < n) ", ""), 1, "out of bounds: kernel twice", "reads x[1000] at line 7")
expect("a compiler error", FILE.replace("2.0f * x[i]", "y"), 1, "mine.cu:7:", "error:")
expect("no play()", "", 1, "needs a function void play() in namespace DEVICE")
expect("another device", FILE, 2, "--device tpu: cpu or gpu", options=["--device", "tpu"])
done = subprocess.run([COPY / "workbook", "play", "/no/such.cu"], capture_output=True, text=True)
if done.returncode != 2 or "/no/such.cu is no file" not in done.stderr:
    sys.exit(f"FAILED: a file that is not there: {done.returncode} {done.stderr}")
print("ok: a file that is not there")
