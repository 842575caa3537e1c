"""Where results that the book quotes come from: each chapter's from one clean commit of this repository, one
day and one card. plots/data/*/not_clean.txt lists those that do not, and why they are quoted all the same."""

import functools
import subprocess

from results import ROOT, BadFile, load, peers_of

MEASURE_AGAIN = "commit the code, build it, and measure again"


def git(*arguments):
    """Exit status and output; None for the status where git or its repository is missing."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    except OSError:
        return None, ""
    return done.returncode, done.stdout.strip()


@functools.cache
def history_is_known():
    """Whether git can tell which commits there were: not in an archive, nor in a copy without its history."""
    status, top = git("rev-parse", "--show-toplevel")
    return status == 0 and top == str(ROOT) and git("rev-parse", "--is-shallow-repository")[1] == "false"


@functools.cache
def is_in_history(commit):
    return git("merge-base", "--is-ancestor", commit, "HEAD")[0] == 0


def commit_fault(commit):
    if commit.endswith("-dirty"):
        return f"commit {commit} had changes that were not committed"
    if commit == "unknown" or history_is_known() and not is_in_history(commit):
        return f"commit {commit} is not in the history of this repository"
    return None


def of_all(runs, *fields):
    """The values of a field, of an object in each run where two are given, without repetition."""
    values = []
    for run in runs:
        for field in fields:
            run = run.get(field, {})
        if run not in values:
            values.append(run)
    return values


def faults(path, runs):
    """The reasons why the runs of a file cannot be quoted."""
    found = [fault for fault in map(commit_fault, of_all(runs, "commit")) if fault]
    for what, values in (("commits", of_all(runs, "commit")), ("days", of_all(runs, "date"))):
        if len(values) > 1:
            found.append(f"its runs are of several {what}: {', '.join(values)}")
    found += [f"{stage['name']} is faster than its ceiling at {'x'.join(map(str, run['shape']))}"
              for run in runs for stage in run["stages"] if stage.get("above_ceiling")]
    if path.name.startswith("peers_"):
        found += differences(runs, load(path.with_name(path.name.removeprefix("peers_"))))
    elif peers_of(path).exists():
        found += differences(load(peers_of(path)), runs)
    return found


def differences(peers, chapter):
    """How the origins of a chapter's runs and of its peers differ."""
    compared = {"commit": ("commit",), "card": ("device", "name"), "driver": ("device", "driver")}
    return [f"the {what} of the peers is {peer}, that of the chapter {own}"
            for what, fields in compared.items()
            for peer, own in [(of_all(runs, *fields) for runs in (peers, chapter))] if peer != own]


def exceptions(folder):
    """{file: reason} of the folder's not_clean.txt."""
    path = folder / "not_clean.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def require_origin(path, runs):
    """Raises BadFile if a page or a figure of the book must not quote these runs of a file."""
    found = faults(path, runs)
    if found and path.name not in exceptions(path.parent):
        raise BadFile(f"{path}: {found[0]}; {MEASURE_AGAIN}")
