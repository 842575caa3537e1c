"""plots/instructions.py: the way of whole vectors through made-up machine code, loops, and bad input."""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

SCRIPT = ROOT / "plots" / "instructions.py"

# `vectors` loads 16 bytes, or leaves early, or loads element by element. `scalar` may leave before its load.
# `loop` goes back, and in `loops` its loop has another one. Before it, both load what does not count.
LISTING = """
Fatbin elf code:
arch = sm_90a

        Function : _ZN3gpu1a7vectorsIfNS0_3ErfEEEvPKfi
        /*0000*/                   MOV R1, R1 ;          /* 0x0 */
                                                         /* 0x1 */
        /*0010*/               @P0 EXIT ;                /* 0x0 */
        /*0020*/              @!P1 BRA 0x60 ;            /* 0x0 */
        /*0030*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0040*/                   LDG.E R3, [R4+0x4] ;  /* 0x0 */
        /*0050*/                   BRA 0x80 ;            /* 0x0 */
        /*0060*/                   NOP ;                 /* 0x0 */
        /*0070*/                   LDG.E.128 R4, [R4] ;  /* 0x0 */
        /*0080*/                   STG.E [R4], R2 ;      /* 0x0 */
        /*0090*/                   EXIT ;                /* 0x0 */
        /*00a0*/                   BRA 0xa0;             /* 0x0 */

        Function : _ZN3gpu1a6scalarEPKfi
        /*0000*/               @P0 EXIT ;                /* 0x0 */
        /*0010*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0020*/                   EXIT ;                /* 0x0 */

        Function : _ZN3gpu1a4loopEPKfi
        /*0000*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0010*/              @!P0 BRA 0x0 ;             /* 0x0 */
        /*0020*/               @P1 EXIT ;                /* 0x0 */
        /*0030*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0040*/              @!P1 BRA P2, 0x60 ;        /* 0x0 */
        /*0050*/                   STG.E [R4], R2 ;      /* 0x0 */
        /*0060*/              @!P0 BRA 0x30 ;            /* 0x0 */
        /*0070*/                   EXIT ;                /* 0x0 */

        Function : _ZN3gpu1a5loopsEPKfi
        /*0000*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0010*/                   LDG.E R2, [R4] ;      /* 0x0 */
        /*0020*/              @!P0 BRA 0x10 ;            /* 0x0 */
        /*0030*/              @!P0 BRA 0x0 ;             /* 0x0 */
        /*0040*/                   EXIT ;                /* 0x0 */
"""


def cuobjdump(folder, listing):
    tool = folder / "cuobjdump"
    tool.write_text(f"#!/bin/sh\ncat <<'end'\n{listing}\nend\n")
    tool.chmod(0o755)


def count(folder, *kernels):
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return run(sys.executable, SCRIPT, folder / "program", *kernels, env={**os.environ, "PATH": path})


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cuobjdump(folder, LISTING)
        done = count(folder, "vectors<float, Erf>:4", "scalar:1", "loop:2")
        rows = [line.split() for line in done.stdout.splitlines()[3:]]
        expect("the way with whole vectors is counted, without what only fills space",
               rows == [["vectors<float,", "Erf>", "4", "6", "1.5"], ["scalar", "1", "3", "3.0"],
                        ["loop", "2", "4", "2.0"]],
               done.stdout + done.stderr)
        for what, kernel, status, text in (
                ("a loop in a loop is refused", "loops:1", 2, "a loop in its last one"),
                ("another name is refused", "other:1", 2, "there are loop, loops, scalar, vectors<"),
                ("a number of elements is needed", "scalar", 2, "expected KERNEL:ELEMENTS"),
                ("no elements are refused", "scalar:0", 2, "expected KERNEL:ELEMENTS"),
                ("no kernel is refused", "--nonsense", 2, "usage")):
            done = count(folder, kernel)
            expect(what, done.returncode == status and text in done.stderr and not done.stdout, done.stderr)
        for what, listing, text in (
                ("two kinds of cards are refused", LISTING + "arch = sm_80\n", "sm_80, sm_90a"),
                ("a program without machine code is refused", "", "no card")):
            cuobjdump(folder, listing)
            done = count(folder, "scalar:1")
            expect(what, done.returncode == 3 and text in done.stderr, done.stderr)
        done = run(sys.executable, SCRIPT, folder / "program", "scalar:1", env={"PATH": str(folder / "none")})
        expect("a machine without cuobjdump is told",
               done.returncode == 3 and "cuobjdump is missing" in done.stderr, done.stderr)


if __name__ == "__main__":
    main()
