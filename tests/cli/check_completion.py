"""What the shells complete: python3 tests/cli/check_completion.py build/bin/workbook. Exit status 4 where there is no bash."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def script(shell):
    return subprocess.run([PROGRAM, "completion", shell], check=True, capture_output=True, text=True).stdout


def completed(*typed):
    """What bash offers for the last of the words."""
    words = " ".join(f"'{word}'" for word in ("./workbook", *typed))
    with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
        file.write(script("bash") + f'\nCOMP_WORDS=({words}); COMP_CWORD={len(typed)}; _workbook; echo "${{COMPREPLY[@]}}"\n')
        file.flush()
        return subprocess.run(["bash", "-u", file.name], check=True, capture_output=True, text=True).stdout.split()


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"FAILED: {what}: got {got}, expected {wanted}")
    print("ok:", what)


if not shutil.which("bash"):
    print("SKIPPED: there is no bash")
    sys.exit(4)
expect("commands", completed("so"), ["solution"])
expect("the launcher's own commands", completed("doc"), ["docs", "doctor"])
expect("exercises", completed("hint", "01.2"), ["01.2_vectorise"])
expect("options", completed("solution", "--"), ["--reveal"])
expect("chapters", completed("run", "00"), ["00_first_kernel"])
expect("shells", completed("completion", "z"), ["zsh"])
expect("a file's name is left to the shell", completed("play", "x"), [])
refused = subprocess.run([PROGRAM, "completion", "fish"], capture_output=True, text=True)
expect("another shell", (refused.returncode, "bash or zsh" in refused.stderr), (2, True))
if shutil.which("zsh"):
    with tempfile.NamedTemporaryFile("w", suffix=".zsh") as file:
        file.write(script("zsh"))
        file.flush()
        expect("zsh can read its script", subprocess.run(["zsh", "-n", file.name]).returncode, 0)
else:
    print("not tried: there is no zsh")
