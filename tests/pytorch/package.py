"""For the tests of chapter 09: the Python that has PyTorch, and the package workbook_ops built for it."""

import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run, skip

SOURCE = ROOT / "chapters" / "09_pytorch"
VERSION = "import importlib.metadata as m; print(m.version('torch'))"
OLDEST = (2, 10)


def kept_environment():
    """The newest environment with PyTorch that the launcher keeps, ~/.cache/workbook/torch-VERSION."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    kept = [path.parents[1] for path in (cache / "workbook").glob("torch-*/bin/python")]
    newest = max(kept, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)], default=None)
    return str(newest) if newest else None


def torch_python():
    """The Python that WORKBOOK_TORCH names, itself or by the folder of its environment; or else that of the
    kept environment, or the active one. Without PyTorch 2.10 or newer in it, the test is skipped.
    """
    named = os.environ.get("WORKBOOK_TORCH") or kept_environment()
    python = pathlib.Path(named) if named else pathlib.Path(shutil.which("python3") or sys.executable)
    where = named if named else f"{python} (WORKBOOK_TORCH can name another Python)"
    if python.is_dir():
        python = python / "bin" / "python"
    if not python.is_file():
        skip(f"{where}: there is no {python}")
    asked = run(python, "-c", VERSION)
    if asked.returncode != 0:
        skip(f"{where} has no PyTorch: pip install --no-compile torch numpy")
    version = asked.stdout.strip()
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        skip(f"{where} has PyTorch {version}, but 2.10 or newer is needed")
    return python


def build(python, folder, *options):
    """Builds the library in `folder`, as far as it has changed, and puts the package together there.

    Returns the folder for PYTHONPATH.
    """
    configured = run("cmake", "-S", SOURCE, "-B", folder, f"-DPython_EXECUTABLE={python}",
                     *(("-G", "Ninja") if shutil.which("ninja") else ()), *options)
    expect("the package is configured", configured.returncode == 0, configured.stdout + configured.stderr)
    built = run("cmake", "--build", folder)
    said = built.stdout + built.stderr
    expect("the package is built, without warnings", built.returncode == 0 and "warning" not in said, said)
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(SOURCE / "src", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(folder / "_operators.so", package / "workbook_ops")
    return package
