"""The completion of shells: python3 tests/cli/check_completion.py build/bin/workbook

Exit status 4 where there is no bash.
"""

import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import expect, run, skip

PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def script(shell):
    return run(PROGRAM, "completion", shell, check=True).stdout


def completed(*typed):
    """The words that bash offers for the last one."""
    words = " ".join(f"'{word}'" for word in ("./workbook", *typed))
    with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
        call = f'COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _workbook; echo "${{COMPREPLY[@]}}"'
        file.write(f"{script('bash')}\n{call}\n")
        file.flush()
        return run("bash", "-u", file.name, check=True).stdout.split()


def expect_completed(what, typed, *wanted):
    found = completed(*typed)
    expect(what, found == list(wanted), f"got {found}, expected {wanted}")


if not shutil.which("bash"):
    skip("there is no bash")
expect_completed("commands", ["so"], "solution")
expect_completed("the launcher's own commands", ["doc"], "docs", "doctor")
expect_completed("exercises", ["hint", "01.2"], "01.2_pairs")
expect_completed("options", ["solution", "--"], "--reveal")
expect_completed("chapters", ["run", "00"], "00_first_kernel")
expect_completed("shells", ["completion", "z"], "zsh")
expect_completed("what view takes", ["view", "--l"], "--lines")
expect_completed("exercises for view", ["view", "01.1"], "01.1_fuse")
expect_completed("a file's name is left to the shell", ["play", "x"])
done = run(PROGRAM, "completion", "fish")
expect("another shell is refused", done.returncode == 2 and "bash or zsh" in done.stderr, done.stderr)
if shutil.which("zsh"):
    with tempfile.NamedTemporaryFile("w", suffix=".zsh") as file:
        file.write(script("zsh"))
        file.flush()
        read = run("zsh", "-n", file.name)
        expect("zsh can read its script", read.returncode == 0, read.stderr)
else:
    print("not tried: there is no zsh")
