"""Renames stages in measured data, and moves them to another chapter: the numbers stay as they were measured.

    python3 plots/rename_stages.py                                        the committed data
    python3 plots/rename_stages.py FOLDER [--counters FILE]               data of your own

Add the new names to RENAMED below and run it once. FOLDER holds NN_chapter.json, peers_NN_chapter.json
and limits/*.json; FILE is what tests/counters.py stores. A chapter whose stages move to another chapter is
split: what moves goes to a new file of that chapter. `renamed_from` (docs/json.md) keeps the name under
which a stage was measured. A second run changes nothing, or is refused because a new name is taken. Exit
status 2: a file that is not what it should be, or a new name that is already taken; nothing has been
written then.
"""

import json
import pathlib
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from results import CHAPTER, ROOT, BadFile, fail, interruptible, load, require

# CHAPTER/STAGE: its new name. Peers and libraries are stages too.
RENAMED = {
    "05_linear_gelu/13_wmma": "06_tensor_cores/1_wmma",
    "05_linear_gelu/13_tanh": "06_tensor_cores/1_tanh",
    "05_linear_gelu/13_then_finish": "06_tensor_cores/1_then_finish",
    "05_linear_gelu/13_tf32": "06_tensor_cores/1_tf32",
    "05_linear_gelu/14_mma": "06_tensor_cores/2_mma",
    "05_linear_gelu/15_wgmma": "06_tensor_cores/3_wgmma",
    "05_linear_gelu/16_producer": "06_tensor_cores/4_producer",
    "05_linear_gelu/17_two_groups": "06_tensor_cores/5_two_groups",
    "05_linear_gelu/18_persistent": "06_tensor_cores/6_persistent",
    "05_linear_gelu/19_multicast": "06_tensor_cores/7_multicast",
    "05_linear_gelu/20_tma_epilogue": "06_tensor_cores/8_tma_epilogue",
    "05_linear_gelu/20_tanh": "06_tensor_cores/8_tanh",
    "05_linear_gelu/21_ping_pong": "06_tensor_cores/9_ping_pong",
    "05_linear_gelu/21_tanh": "06_tensor_cores/9_tanh",
    "05_linear_gelu/22_stream_k": "06_tensor_cores/10_stream_k",
    "05_linear_gelu/22_tanh": "06_tensor_cores/10_tanh",
    "05_linear_gelu/23_gemm": "06_tensor_cores/11_gemm",
    "05_linear_gelu/23_cublas": "06_tensor_cores/11_cublas",
    "05_linear_gelu/23_cublaslt": "06_tensor_cores/11_cublaslt",
    "05_linear_gelu/torch, bfloat16": "06_tensor_cores/torch, bfloat16",
    "05_linear_gelu/torch.compile, bfloat16": "06_tensor_cores/torch.compile, bfloat16",
    "05_linear_gelu/torch, GELU_BIAS": "06_tensor_cores/torch, GELU_BIAS",
}


# --- Files: every number keeps the digits that it has ---


def exact(path):
    """The JSON of a file, with its numbers as texts."""
    return load(path, parse_float=lambda digits: "\0" + digits)


def text_of(value):
    return re.sub(r'"\\u0000([^"]*)"', r"\1", json.dumps(value, indent=1, ensure_ascii=False)) + "\n"


# --- Renaming ---


def renamed(chapter, stage):
    """(chapter, stage) by their new names."""
    new_chapter, _, new_stage = RENAMED.get(f"{chapter}/{stage}", f"{chapter}/{stage}").partition("/")
    return new_chapter, new_stage


def with_field(value, after, field, content):
    """A copy of a dict with one more field behind `after`; a field that is there stays."""
    if field in value:
        return dict(value)
    pairs = []
    for key, old in value.items():
        pairs += [(key, old), (field, content)] if key == after else [(key, old)]
    return dict(pairs)


def add(stages, name, value, path):
    """Puts a stage into {name: stage}."""
    if name in stages:
        raise BadFile(f"{path}: two stages would be named {name}")
    stages[name] = value


def renamed_stage(stage, chapter):
    new_chapter, new_name = renamed(chapter, stage["name"])
    changed = dict(stage)
    if "against" in stage:
        against_chapter, changed["against"] = renamed(chapter, stage["against"])
        if against_chapter != new_chapter:  # another chapter's stage: its own first one
            del changed["against"]
    if "ratios" in stage:
        changed["ratios"] = [{**ratio, "stage": renamed(chapter, ratio["stage"])[1]}
                             for ratio in stage["ratios"]]
    if new_name != stage["name"] or new_chapter != chapter:
        changed["name"] = new_name
        changed = with_field(changed, "name", "renamed_from", f"{chapter}/{stage['name']}")
    return new_chapter, changed


def renamed_ours(ours, chapter, new_chapter):
    """Of our stages beside peers, those that are in a chapter now."""
    with_names = [(*renamed(chapter, stage["name"]), stage) for stage in ours]
    return [{**stage, "name": name} for its_chapter, name, stage in with_names if its_chapter == new_chapter]


def split_runs(runs, path):
    """{chapter: its runs} of the runs that a file holds."""
    split = {}
    for i, run in enumerate(runs):
        require(run, {"chapter": CHAPTER}, f"{path}: [{i}]")
        chapter, parts = run["chapter"], {}
        for stage in run["stages"]:
            new_chapter, changed = renamed_stage(stage, chapter)
            add(parts.setdefault(new_chapter, {}), changed["name"], changed, path)
        for new_chapter, stages in parts.items():
            part = {**run, "chapter": new_chapter, "stages": list(stages.values())}
            if "ours" in run:
                part["ours"] = renamed_ours(run["ours"], chapter, new_chapter)
            if new_chapter != chapter:
                part = with_field(part, "chapter", "renamed_from", chapter)
            split.setdefault(new_chapter, []).append(part)
    return split


def split_limits(profiled, chapter, path):
    """{chapter: {size: what ncu said}} of such a file of one chapter."""
    split = {}
    for size, entry in profiled.items():
        parts, old_names = {}, {}
        for name, kernels in entry["stages"].items():
            new_chapter, new_name = renamed(chapter, name)
            add(parts.setdefault(new_chapter, {}), new_name, kernels, path)
            if (new_chapter, new_name) != (chapter, name):
                old_names.setdefault(new_chapter, {})[new_name] = f"{chapter}/{name}"
        for new_chapter, stages in parts.items():
            part = {**entry, "stages": stages}
            earlier = {new: old for new, old in entry.get("renamed_from", {}).items() if new in stages}
            names = {**old_names.get(new_chapter, {}), **earlier}
            if names:
                part = with_field(part, "command", "renamed_from", names)
            split.setdefault(new_chapter, {})[size] = part
    return split


def renamed_counters(counted, path):
    """The same counters with the stages' new names."""
    kernels = {}
    for name, counters in counted["kernels"].items():
        new_name = RENAMED.get(name, name)
        changed = counters if new_name == name else {"renamed_from": name, **counters}
        add(kernels, new_name, changed, path)
    return {**counted, "kernels": kernels}


# --- Main ---


def chapter_numbered(number, folder, path):
    """The chapter that a file of limits is about: its name begins with the chapter's number."""
    for chapter in folder.glob(f"{number}_*.json"):
        return chapter.stem
    raise BadFile(f"{path}: {folder} holds no chapter {number}")


def files_after(folder, counters):
    """{path: its new text} of all files of the data that change."""
    after = {}

    def keep(path, split, chapter, prefix=""):
        for new_chapter, content in split.items():
            target = path if new_chapter == chapter else path.with_name(f"{prefix}{new_chapter}.json")
            if target != path and (target.exists() or target in after):
                raise BadFile(f"{target}: it is already there, so nothing of {path.name} can be moved to it")
            after[target] = text_of(content)

    for path in sorted(folder.glob("*.json")):
        runs = exact(path)
        prefix = "peers_" if path.name.startswith("peers_") else ""
        keep(path, split_runs(runs, path), runs[0]["chapter"], prefix)
    for path in sorted(folder.glob("limits/*.json")):
        chapter = chapter_numbered(path.name[:2], folder, path)
        keep(path, split_limits(exact(path), chapter, path), chapter)
    if counters:
        after[counters] = text_of(renamed_counters(exact(counters), counters))
    return {path: text for path, text in after.items() if not path.exists() or path.read_text() != text}


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="folder of the chapters' JSON")
    parser.add_argument("--counters", type=pathlib.Path, metavar="FILE", help="hardware counters")
    arguments = parser.parse_args()
    folder = arguments.folder or ROOT / "plots/data/h200"
    counters = arguments.counters or (None if arguments.folder else ROOT / "tests/data/counters_h200.json")
    try:
        after = files_after(folder, counters)
    except BadFile as bad:
        fail(2, bad)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        fail(2, f"a file in {folder} is not what docs/json.md says: {error!r}")
    for path, text in after.items():
        path.write_text(text)
        print(f"written: {path}")
    if not after:
        print("nothing to rename")


if __name__ == "__main__":
    interruptible(main)
