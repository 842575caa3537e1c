"""Counts the machine instructions that a thread of a kernel executes, from the program's machine code.

Needs cuobjdump of the CUDA Toolkit, and a build with its GPU side for one kind of card:

    python3 plots/instructions.py build/bin/07_gelu_dropout fused:1 share_calls:4 "sixteen_bits<Erf>:8"

Each kernel is named without namespaces, with the number of elements that a thread has. The script counts one
of the ways through the code, that of a thread whose vectors are whole. It makes the most accesses of 16 bytes
to global memory (in a kernel without such, the most accesses), with the fewest instructions. Where threads
loop over vectors, one pass through the last loop of the kernel counts. A loop within it is refused, because
the code does not say how often that runs. plots/limits.py counts the instructions that a GPU executes.
Exit status 2: bad usage, or no such kernel; 3: no cuobjdump, or a program without machine code for one kind
of card.
"""

import functools
import pathlib
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from results import fail

LINE = re.compile(r"^\s+/\*([0-9a-f]+)\*/\s+(?:@(!?U?P\w+) )?\s*([A-Z][^;]*?)\s*;", re.M)


def output_of(*command, text=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, input=text)
    except OSError as error:
        fail(3, error)
    if done.returncode != 0:
        fail(3, f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def code_of_kernels(listing):
    """{mangled name: [(address, predicate, instruction)]} from what cuobjdump -sass prints."""
    parts = re.split(r"^\s+Function : (\S+)$", listing, flags=re.M)
    return {name: [(int(address, 16), predicate, words)
                   for address, predicate, words in LINE.findall(text)]
            for name, text in zip(parts[1::2], parts[2::2])}


def short_name(demangled):
    """"sixteen_bits<Erf>" of "void gpu::gelu_dropout::sixteen_bits<gpu::gelu_dropout::Erf>(...)"."""
    name = re.sub(r"\b\w+::", "", demangled).removeprefix("void ")
    return name.partition("(")[0]


class HasLoop(Exception):
    pass


def executed(code):
    """How many instructions a thread with whole vectors executes, or one pass of its last loop."""
    number = {address: i for i, (address, _, _) in enumerate(code)}
    targets = {i: number[int(words.split()[-1], 16)] for i, (_, _, words) in enumerate(code)
               if words.startswith("BRA ")}
    last, first = max(((i, target) for i, target in targets.items() if target < i), default=(None, 0))
    has_vectors = any("G.E.128" in words for _, _, words in code)

    @functools.cache
    def way_from(i):
        """(accesses, -instructions) of the best way from instruction i on."""
        _, predicate, words = code[i]
        name, target = words.split()[0], targets.get(i)
        if target == i:  # the padding after the last EXIT
            return 0, 0
        if i == last:
            return 0, -1
        if target is not None and target < i:
            raise HasLoop
        ways = []
        if name == "EXIT":
            ways.append((0, 0))
        if target is not None:
            ways.append(way_from(target))
        if predicate or name not in ("EXIT", "BRA"):
            ways.append(way_from(i + 1))
        accesses, instructions = max(ways)
        is_counted = name.startswith(("LDG", "STG")) and (".128" in name or not has_vectors)
        return accesses + is_counted, instructions - (name != "NOP")

    sys.setrecursionlimit(max(1000, 4 * len(code)))
    return -way_from(first)[1]


def counted(listing, wanted):
    """[(kernel, elements per thread, instructions per thread)] of the wanted, a list of "NAME:ELEMENTS"."""
    codes = code_of_kernels(listing)
    demangled = output_of("c++filt", text="\n".join(codes)).splitlines() if codes else []
    named = {short_name(name): code for name, code in zip(demangled, codes.values()) if short_name(name)}
    rows = []
    for one in wanted:
        name, _, elements = one.rpartition(":")
        if not elements.isdigit() or int(elements) == 0:
            fail(2, f"{one}: expected KERNEL:ELEMENTS, such as fused:1")
        if name not in named:
            fail(2, f"there is no kernel {name}; there are {', '.join(sorted(named))}")
        try:
            rows.append((name, int(elements), executed(named[name])))
        except HasLoop:
            fail(2, f"{name} has a loop in its last one: how often it runs does not follow from the code")
    return rows


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("kernels", nargs="+", metavar="KERNEL:ELEMENTS")
    options = parser.parse_args()
    if not shutil.which("cuobjdump"):
        fail(3, "cuobjdump is missing; it is part of the CUDA Toolkit")
    listing = output_of("cuobjdump", "-sass", str(options.program))
    architectures = sorted(set(re.findall(r"^arch = (sm_\w+)$", listing, re.M)))
    if len(architectures) != 1:
        fail(3, f"{options.program} has machine code for {', '.join(architectures) or 'no card'}; "
                "expected one kind of card")
    rows = counted(listing, options.kernels)
    print(f"{options.program.name}, machine code for {architectures[0]}\n")
    print(f"{'kernel':<36}{'elements':>10}{'instructions':>14}{'per element':>13}")
    for name, elements, instructions in rows:
        print(f"{name:<36}{elements:>10}{instructions:>14}{instructions / elements:>13.1f}")


if __name__ == "__main__":
    main()
