"""Where quoted results come from (plots/origin.py): data of no clean commit, of several commits, days or
cards is refused, by figures of the book and by quotations, and no exception is listed that is not needed.
And no stage of the committed data spills registers but those that are known to.

    python3 tests/plots/check_origin.py
"""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run

sys.path.insert(0, str(ROOT / "plots"))
import origin

CHAPTER = "01_multiply_add.json"
PAGE = """<!-- times: plots/data/card/01_multiply_add.json 1048576 -->

```text
```
"""


def check_committed_data():
    for folder in sorted(path for path in (ROOT / "plots" / "data").iterdir() if path.is_dir()):
        listed = origin.exceptions(folder)
        for path in sorted(folder.glob("*.json")):
            found = origin.faults(path, json.loads(path.read_text()))
            if path.name in listed:
                expect(f"{path.name} must be in not_clean.txt; once it need not, take its line away",
                       found and listed[path.name])
            else:
                expect(f"{path.name} is of one clean commit, one day and one card", not found,
                       f"{found}\n{origin.MEASURE_AGAIN}")
        unknown = [name for name in listed if not (folder / name).exists()]
        expect(f"{folder.name}/not_clean.txt names files that exist", not unknown, unknown)


# Stages that spill; the lessons say of most what it costs.
SPILL = {("06_tensor_cores", "10_stream_k"), ("06_tensor_cores", "10_tanh"),
         ("08_attention", "02_one_kernel"), ("08_attention", "03_mask"), ("08_attention", "08_exp2"),
         ("08_attention", "12_mma"), ("08_attention", "12_causal"), ("08_attention", "17_causal")}


def check_spills():
    spilling = {(run["chapter"], stage["name"])
                for path in (ROOT / "plots" / "data").glob("*/[0-9]*.json")
                for run in json.loads(path.read_text())
                for stage in run["stages"] if stage.get("spill_bytes")}
    expect("the stages that spill registers are the known ones", spilling == SPILL, spilling ^ SPILL)


class Tree:
    """A small repository with the scripts, a page that quotes a chapter, and its data and peers."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "plots" / "data" / "card"
        self.data.mkdir(parents=True)
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "update.py", folder / "docs")
        for script in (ROOT / "plots").glob("*.py"):
            shutil.copy(script, folder / "plots")
        (folder / "README.md").write_text(PAGE)
        self.git("init", "--quiet")
        self.git("add", "README.md")
        self.git("commit", "--quiet", "--message", "A page")
        self.commit = self.git("rev-parse", "--short=12", "HEAD")

    def git(self, *arguments):
        who = ["-c", "user.name=A tester", "-c", "user.email=tester@example.org"]
        return subprocess.run(["git", "-C", self.folder, *who, *arguments], check=True, capture_output=True,
                              text=True).stdout.strip()

    def write(self, change):
        """The committed runs of chapter 01 and its peers, as from this repository, with a change."""
        files = {}
        for name in (CHAPTER, f"peers_{CHAPTER}"):
            files[name] = copy.deepcopy(json.loads((ROOT / "plots" / "data" / "h200" / name).read_text()))
            for one in files[name]:
                one["commit"] = self.commit
        change(files[CHAPTER], files[f"peers_{CHAPTER}"])
        for name, runs in files.items():
            (self.data / name).write_text(json.dumps(runs))

    def update(self):
        done = run(sys.executable, self.folder / "docs" / "update.py", "--check", self.folder)
        return done.returncode, done.stdout + done.stderr


def set_all(field, value):
    def change(chapter, peers):
        for one in chapter + peers:
            one[field] = value
    return change


def faster_than_its_ceiling(chapter, peers):
    chapter[0]["stages"][2]["above_ceiling"] = True


def first_day(chapter, peers):
    chapter[0]["date"] = "2020-01-01"


def first_commit(tree):
    def change(chapter, peers):
        tree.git("commit", "--quiet", "--allow-empty", "--message", "Another")
        chapter[0]["commit"] = tree.git("rev-parse", "--short=12", "HEAD")
    return change


def peers_commit(tree):
    def change(chapter, peers):
        for one in peers:
            one["commit"] = tree.git("rev-parse", "--short=12", "HEAD~")
        for one in chapter:
            one["commit"] = tree.git("rev-parse", "--short=12", "HEAD")
    return change


def peers_card(chapter, peers):
    for one in peers:
        one["device"]["name"] = "another card"


def check_refusals(tree):
    def check(what, change, status, *texts):
        tree.write(change)
        code, output = tree.update()
        expect(what, code == status and all(text in output for text in texts),
               f"exit status {code}, wanted {status} and {texts}:\n{output}")

    check("clean data is quoted", set_all("date", "2026-01-01"), 1, "out of date: README.md")
    check("data of changed code is refused", set_all("commit", f"{tree.commit}-dirty"), 2,
          "update.py: README.md quotes", CHAPTER,
          f"commit {tree.commit}-dirty had changes that were not committed", "measure again")
    (tree.data / "not_clean.txt").write_text(f"# FILE: why\n{CHAPTER}: a test\npeers_{CHAPTER}: a test\n")
    check("... but for exceptions", set_all("commit", f"{tree.commit}-dirty"), 1, "out of date: README.md")
    (tree.data / "not_clean.txt").unlink()
    check("data of an unknown commit is refused", set_all("commit", "0123456789ab"), 2,
          "commit 0123456789ab is not in the history of this repository")
    check("data of two commits is refused", first_commit(tree), 2, "its runs are of several commits")
    check("data of two days is refused", first_day, 2, "its runs are of several days: 2020-01-01, 2026-")
    check("a stage above its ceiling is refused", faster_than_its_ceiling, 2, "is faster than its ceiling")
    check("peers of another commit are refused", peers_commit(tree), 2, "the commit of the peers is")
    check("peers of another card are refused", peers_card, 2, "the card of the peers is ['another card']")
    tree.git("clone", "--quiet", "--depth", "1", f"file://{tree.folder}", tree.folder / "shallow")
    shutil.rmtree(tree.folder / ".git")
    check("without a history, any clean commit will do", set_all("commit", "0123456789ab"), 1,
          "out of date: README.md")
    (tree.folder / "shallow" / ".git").rename(tree.folder / ".git")
    check("... nor is a shallow copy a history", set_all("commit", "0123456789ab"), 1,
          "out of date: README.md")


def check_own_figures(folder):
    """A reader has changed files: the exercises."""
    for name in ("00_first_kernel.json", CHAPTER):
        runs = json.loads((ROOT / "plots" / "data" / "h200" / name).read_text())
        for one in runs:
            one["commit"] = "0123456789ab-dirty"
        (folder / name).write_text(json.dumps(runs))
    done = run(sys.executable, ROOT / "plots" / "plot.py", folder)
    if done.returncode == 3:
        return print("SKIPPED: no matplotlib")
    expect("a reader's own figures of changed code are drawn, with one warning",
           done.returncode == 0 and done.stderr.count("plot.py: commit 0123456789ab-dirty had changes") == 1,
           done.stdout + done.stderr)


check_committed_data()
check_spills()
with tempfile.TemporaryDirectory() as name:
    check_refusals(Tree(pathlib.Path(name).resolve()))
with tempfile.TemporaryDirectory() as name:
    check_own_figures(pathlib.Path(name))
