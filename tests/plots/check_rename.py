"""plots/rename_stages.py: a chapter is split, a second run changes nothing, bad input is refused."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, run


def rename(folder):
    done = run(sys.executable, ROOT / "plots" / "rename_stages.py", folder,
               "--counters", folder / "tests/counters.json")
    return done.returncode, done.stdout + done.stderr


def texts(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.json")}


def stages(*names, against="1_unfused", ratios=None):
    # A number that Python would write with another last digit.
    stage = '{{"name": "{}", "against": "{}", "time_us": 4037.0559692382813{}}}'
    more = f', "ratios": [{{"stage": "{ratios}", "median": 1.5}}]' if ratios else ""
    return ", ".join(stage.format(name, against, more) for name in names)


def write(folder):
    """A chapter of which half moves to another one, its peers, what ncu said of it, and its counters."""
    for inner in ("limits", "tests"):
        (folder / inner).mkdir()
    run = '[{{"schema": 1, "chapter": "05_linear_gelu", "commit": "abc", "stages": [{}]{}}}]'
    (folder / "05_linear_gelu.json").write_text(
        run.format(stages("1_unfused", "13_tf32") + ", "
                   + stages("13_wmma", "14_mma", against="13_wmma"), ""))
    (folder / "peers_05_linear_gelu.json").write_text(
        run.format(stages("torch", ratios="10_epilogue") + ", "
                   + stages("torch, bfloat16", against="13_wmma", ratios="21_tanh"),
                   ', "ours": [{"name": "10_epilogue"}, {"name": "21_tanh"}]'))
    (folder / "limits/05_first_stages.json").write_text(
        '{"16x16x16": {"command": "limits.py", "stages": {"1_unfused": [], "13_wmma": [{"cycles": 1.0}]}}}')
    (folder / "tests/counters.json").write_text(
        '{"kernels": {"mul": {"launches": 1}, "05_linear_gelu/13_wmma": {"launches": 2}}}')


def check_split(folder):
    write(folder)
    status, output = rename(folder)
    expect("a chapter is split", status == 0, output)
    after = texts(folder)
    data = {name: json.loads(text) for name, text in after.items()}
    names = {name: [(stage["name"], stage.get("renamed_from")) for stage in runs[0]["stages"]]
             for name, runs in data.items() if isinstance(runs, list)}
    expect("each chapter has its stages, and their old names", names == {
        "05_linear_gelu.json": [("1_unfused", None)],
        "06_tensor_cores.json": [("1_tf32", "05_linear_gelu/13_tf32"), ("1_wmma", "05_linear_gelu/13_wmma"),
                                 ("2_mma", "05_linear_gelu/14_mma")],
        "peers_05_linear_gelu.json": [("torch", None)],
        "peers_06_tensor_cores.json": [("torch, bfloat16", "05_linear_gelu/torch, bfloat16")]}, names)
    run = data["06_tensor_cores.json"][0]
    expect("the run says which chapter it was", (run["chapter"], run["renamed_from"], run["commit"])
           == ("06_tensor_cores", "05_linear_gelu", "abc"), run)
    expect("the stages that speed-ups are over are renamed, and one of another chapter is left out",
           [stage.get("against") for stage in run["stages"]] == [None, "1_wmma", "1_wmma"], run)
    peers = {name: data[f"peers_{name}.json"][0] for name in ("05_linear_gelu", "06_tensor_cores")}
    compared = {name: [ratio["stage"] for stage in of["stages"] for ratio in stage["ratios"]]
                for name, of in peers.items()}
    beside = {name: [stage["name"] for stage in of["ours"]] for name, of in peers.items()}
    expect("so are those that peers are compared with, each in its chapter", compared == beside == {
        "05_linear_gelu": ["10_epilogue"], "06_tensor_cores": ["9_tanh"]}, (compared, beside))
    expect("numbers keep their digits", after["06_tensor_cores.json"].count("4037.0559692382813") == 3)
    limits = data["limits/06_tensor_cores.json"]["16x16x16"]
    expect("what ncu said moves along", limits["stages"] == {"1_wmma": [{"cycles": 1.0}]}
           and limits["renamed_from"] == {"1_wmma": "05_linear_gelu/13_wmma"}, limits)
    rest = data["limits/05_first_stages.json"]["16x16x16"]
    expect("... and leaves the rest", rest == {"command": "limits.py", "stages": {"1_unfused": []}}, rest)
    expect("counters are renamed", data["tests/counters.json"]["kernels"] == {
        "mul": {"launches": 1},
        "06_tensor_cores/1_wmma": {"renamed_from": "05_linear_gelu/13_wmma", "launches": 2}}, after)

    status, output = rename(folder)
    same = texts(folder) == after
    expect("a second run changes nothing", status == 0 and "nothing to rename" in output and same, output)


def check_refused(what, file, text, *named):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder)
        (folder / file).write_text(text)
        before = texts(folder)
        status, output = rename(folder)
        right = status == 2 and all(part in output for part in named) and texts(folder) == before
        expect(f"{what} is refused, and nothing is written", right, f"exit status {status}: {output}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_split(pathlib.Path(folder))
    run = '[{{"chapter": "05_linear_gelu", "stages": [{}]}}]'
    check_refused("a chapter that is there already", "06_tensor_cores.json", "[]", "06_tensor_cores.json")
    check_refused("a name that is taken", "tests/counters.json",
                  '{"kernels": {"05_linear_gelu/13_wmma": {}, "06_tensor_cores/1_wmma": {}}}',
                  "two stages would be named 06_tensor_cores/1_wmma")
    check_refused("a stage that is there twice", "05_linear_gelu.json",
                  run.format(stages("13_wmma", "13_wmma")),
                  "05_linear_gelu.json: two stages would be named 1_wmma")
    check_refused("a truncated file", "tests/counters.json", '{"kernels": ', "counters.json")
    check_refused("a run without stages", "05_linear_gelu.json", '[{"chapter": "05_linear_gelu"}]',
                  "docs/json.md", "stages")
    check_refused("a chapter outside the folder", "05_linear_gelu.json",
                  run.format(stages("13_wmma")).replace("05_linear_gelu", "../../x"),
                  "[0].chapter", "../../x")
    check_refused("limits of no chapter", "limits/07_none.json", "{}", "limits/07_none.json", "no chapter 07")


main()
