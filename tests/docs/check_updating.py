"""The commands for updating in docs/usage.md, followed by a reader who has solved two exercises."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

EXERCISES = "chapters/01_multiply_add/exercises"


def commands():
    """The blocks of commands of the section."""
    section = re.search(r"^## Updating$(.*?)^## ", (ROOT / "docs/usage.md").read_text(), re.M | re.S)[1]
    blocks = re.findall(r"(?:^    .*\n)+", section, re.M)
    return [[line.split() for line in block.splitlines()] for block in blocks]


def git(folder, *words):
    who = {f"GIT_{role}_{what}": "test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return run("git", *words, cwd=folder, env={**os.environ, **who, "LC_ALL": "C"})


def commit(folder, file, text):
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(text)
    for words in (["add", "-A"], ["commit", "-q", "-m", "An update"]):
        done = git(folder, *words)
        expect(f"git {words[0]}", done.returncode == 0, done.stderr)


def follow(folder, block):
    """The output of the commands of a block."""
    output = ""
    for words in block:
        done = git(folder, *words[1:])
        output += done.stdout + done.stderr
    return output


def move_or_remove(origin, *words):
    for git_words in (words, ("commit", "-q", "-m", "An update")):
        done = git(origin, *git_words)
        expect(f"git {git_words[0]}", done.returncode == 0, done.stderr)


def renamed_and_removed(origin, mine, pull, with_stash, take_mine):
    """An update that renames one exercise and removes another: the reader's text of both is kept."""
    task = "".join(f"line {i} of a task\n" for i in range(20))
    names = ("2_renamed", "3_removed", "4_new_name")
    old, removed, new = (f"{EXERCISES}/{name}.cuh" for name in names)
    for file in (old, removed):
        commit(origin, file, task)
    follow(mine, pull)
    for file in (old, removed):
        (mine / file).write_text(task.replace("line 9 of", "my line of"))
    move_or_remove(origin, "mv", old, new)
    move_or_remove(origin, "rm", "-q", removed)
    output = follow(mine, pull)
    kept = all("my line" in (mine / file).read_text() for file in (old, removed))
    expect("an update that renames or removes a solved exercise is refused",
           "would be overwritten by merge" in output and kept, output)
    output = follow(mine, with_stash)
    # Git follows the renamed file, and leaves the removed one where it was.
    expect("git stash moves a renamed exercise", "my line" in (mine / new).read_text()
           and not (mine / old).exists(), output)
    expect("... and keeps a removed one", "my line" in (mine / removed).read_text()
           and f"CONFLICT (modify/delete): {removed}" in output, output)
    follow(mine, [[word.replace("1_fuse", "3_removed") for word in words] for words in take_mine])
    rest = git(mine, "status", "--porcelain").stdout + git(mine, "stash", "list").stdout
    expect("... as a file of the reader's own", f" M {new}\n" in rest and f"?? {removed}\n" in rest
           and "stash@" not in rest, rest)
    output = follow(mine, pull)
    expect("... beside which the next update works", "Already up to date" in output, output)


def main():
    pull, with_stash, take_mine = commands()
    with tempfile.TemporaryDirectory() as temporary:
        origin, mine = pathlib.Path(temporary) / "origin", pathlib.Path(temporary) / "mine"
        origin.mkdir()
        subprocess.run(["git", "init", "-q", origin], check=True)
        fuse, other = f"{EXERCISES}/1_fuse.cuh", f"{EXERCISES}/2_float4.cuh"
        commit(origin, fuse, "task\n")
        commit(origin, other, "task\n")
        subprocess.run(["git", "clone", "-q", origin, mine], check=True)

        def solved():
            return [(mine / file).read_text() for file in (fuse, other)] == ["solved\n", "solved\n"]

        (mine / fuse).write_text("solved\n")
        (mine / other).write_text("solved\n")
        commit(origin, "README.md", "new\n")
        output = follow(mine, pull)
        expect("an update elsewhere keeps solutions", solved() and (mine / "README.md").exists(), output)

        commit(origin, fuse, "clearer task\n")
        output = follow(mine, pull)
        refused = "Your local changes to the following files would be overwritten by merge" in output
        expect("an update of a solved exercise is refused as the page says", refused and solved(), output)
        output = follow(mine, with_stash)
        text = (mine / fuse).read_text()
        expect("git stash brings the update, and both versions", "CONFLICT" in output and "<<<<<<<" in text
               and "solved" in text and "clearer task" in text, output + text)
        output = follow(mine, take_mine)
        expect("the reader's version is taken", solved(), output)
        rest = git(mine, "status", "--porcelain").stdout + git(mine, "stash", "list").stdout
        expect("... and both are ordinary changes again", rest == f" M {fuse}\n M {other}\n", rest)
        output = follow(mine, pull)
        expect("... so that the next update works", "Already up to date" in output and solved(), output)
        renamed_and_removed(origin, mine, pull, with_stash, take_mine)


main()
