"""Traced code (kernels) and plain code must share no function that the linker could merge.

Were a template or inline function compiled in both, one copy would serve both: accesses would go uncounted, or the CPU
device would trace itself. Compares the weak symbols that the two worlds define.
"""

import argparse
import subprocess
import sys


def symbols(files, kinds, options):
    lines = subprocess.run(["nm", *options, *files], check=True, capture_output=True, text=True).stdout.splitlines()
    split = (line.split() for line in lines)
    return {words[-1] for words in split if len(words) >= 2 and words[-2] in kinds}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traced", nargs="+", required=True)
    parser.add_argument("--plain", nargs="+", required=True)
    arguments = parser.parse_args()

    traced = [path for argument in arguments.traced for path in argument.split(";")]
    plain = [path for argument in arguments.plain for path in argument.split(";")]
    weak = set("WVuwv")
    shared = symbols(traced, weak, ["-C", "--defined-only"]) & symbols(plain, weak, ["-C", "--defined-only"])
    for name in sorted(shared):
        print("defined in traced and in plain code:", name)

    for path in traced:
        if not any(name.startswith("__tsan_read") for name in symbols([path], {"U"}, [])):
            print("not traced:", path)
            shared.add(path)
    for path in plain:
        found = [name for name in symbols([path], {"U"}, []) if name.startswith("__tsan_") and not path.endswith(".a")]
        if found:
            print("traced, but should be plain:", path)
            shared.update(found)
    print(f"{len(traced)} traced and {len(plain)} plain files: {'wrong' if shared else 'nothing shared'}")
    return 1 if shared else 0


sys.exit(main())
