"""Traced code (kernels) and plain code must share no function that the linker could merge.

If a template or an inline function is compiled in both, one copy serves both: accesses go uncounted, or the
CPU device traces itself. So this compares the weak symbols that the two worlds define.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import run


def symbols(files, kinds):
    """The mangled names of those kinds (nm's letters) that the files define or use."""
    lines = run("nm", *files, check=True).stdout.splitlines()
    split = (line.split() for line in lines)
    return {words[-1] for words in split if len(words) >= 2 and words[-2] in kinds}


def demangled(name):
    return run("c++filt", name, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traced", nargs="+", required=True)
    parser.add_argument("--plain", nargs="+", required=True)
    arguments = parser.parse_args()

    traced = [path for argument in arguments.traced for path in argument.split(";")]
    plain = [path for argument in arguments.plain for path in argument.split(";")]
    weak = set("WVuwv")
    in_traced, in_plain = symbols(traced, weak), symbols(plain, weak)
    shared = in_traced & in_plain
    for name in sorted(shared):
        print("defined in traced and in plain code:", demangled(name))

    for path in traced:
        if "__tsan_init" not in symbols([path], {"U"}):  # kernels may be templates that nothing uses
            print("not traced:", path)
            shared.add(path)
    for path in plain:
        found = [name for name in symbols([path], {"U"}) if name.startswith("__tsan_")]
        if found:
            print("traced, but should be plain:", path)
            shared.update(found)
    print(f"{len(traced)} traced files with {len(in_traced)} mergeable symbols, {len(plain)} plain ones with "
          f"{len(in_plain)}: {'wrong' if shared else 'nothing shared'}")
    return 1 if shared or not in_traced or not in_plain else 0


sys.exit(main())
