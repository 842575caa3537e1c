"""Makes mutants by applying unified diffs, which must fit to the letter.

    python3 tests/solutions/apply_patch.py SOLUTION FOLDER PATCH...

The mutant of NAME.patch is FOLDER/mutant_NAME.cuh.

Lines before the first "@@" are the patch's comment. A patch that does not fit exactly is an error: the
solution has changed, so think the mutant over.
"""

import pathlib
import re
import sys

HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


def patched(old, patch):
    """The lines of `old` with all hunks applied."""
    new, at = [], 0  # at: lines of `old` that are done with
    hunks = False
    for line in patch:
        if found := HUNK.match(line):
            begin = int(found.group(1)) - 1
            new += old[at:begin]
            at, hunks = begin, True
        elif not hunks:
            continue
        elif line.startswith("+"):
            new.append(line[1:])
        elif line[:1] in (" ", "-", ""):
            if at >= len(old) or old[at] != line[1:]:
                found = old[at] if at < len(old) else "the end"
                raise ValueError(f"line {at + 1} of the solution should be\n  {line[1:]}\nand is\n  {found}")
            if not line.startswith("-"):
                new.append(old[at])
            at += 1
        else:
            raise ValueError(f"this is no line of a unified diff:\n  {line}")
    if not hunks:
        raise ValueError("there is no hunk")
    return new + old[at:]


def main():
    solution, folder, *patches = map(pathlib.Path, sys.argv[1:])
    for patch in patches:
        try:
            lines = patched(solution.read_text().splitlines(), patch.read_text().splitlines())
        except ValueError as error:
            sys.exit(f"{patch} does not apply to {solution}: {error}")
        mutant = folder / f"mutant_{patch.stem}.cuh"
        mutant.write_text("\n".join(lines) + "\n")


main()
