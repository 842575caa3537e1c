"""Kernels are compiled for a GPU with their asserts, in every build type; the chapters' kernels have none.

    python3 tests/cmake/check_asserts.py --with PTX... --without PTX...
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect

parser = argparse.ArgumentParser()
parser.add_argument("--with", nargs="+", dest="with_asserts", type=pathlib.Path)
parser.add_argument("--without", nargs="+", type=pathlib.Path)
files = parser.parse_args()


def asserts(path):
    """The lines that call what nvcc compiles an assert that fails to."""
    return [line for line in path.read_text().splitlines() if "__assertfail," in line]


for path in files.with_asserts:
    expect(f"{path.name} has asserts", asserts(path))
for path in files.without:
    text = path.read_text()
    expect(f"{path.parent.name} has kernels and no assert", ".entry" in text and "__assertfail" not in text)
