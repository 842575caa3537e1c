"""plots/peers.py, as far as it needs no GPU: statistics, turns, talking to a chapter's program, the form of
files, and what it says when it cannot run.
"""

import json
import pathlib
import random
import re
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from checks import ROOT, expect, expect_refused

sys.path[:0] = [str(ROOT / "plots"), str(ROOT / "docs")]
import nvml
import origin
import peer_entries
import plot
import results
import turns
import update
from contenders import MODULES
from contenders.ours import OURS
from our_stages import OurStages, ProgramFailed

PEERS = ROOT / "plots" / "peers.py"
COMMITTED = ROOT / "plots" / "data" / "h200"
# Pages quote only results that were measured at a commit of this history.
COMMIT = origin.git("rev-parse", "--short=12", "HEAD")[1] or "0" * 12
CHAPTER = [run | {"commit": COMMIT}
           for run in json.loads((COMMITTED / "01_multiply_add.json").read_text())[:2]]


def samples(*us):
    return [{"us": one} for one in us]


# --- Statistics ---


def check_interval():
    ranks = {count: results.interval_rank(count) for count in (5, 6, 9, 25, 100)}
    expect("ranks of 95 % intervals are those of the binomial tables",
           ranks == {5: 0, 6: 1, 9: 2, 25: 8, 100: 40}, ranks)
    shuffled = random.Random(1).sample(range(1, 26), 25)
    expect("of 25 samples the 8th and the 18th", results.median_interval(shuffled) == (8, 18))
    try:
        results.median_interval([1, 2, 3, 4, 5])
        expect("5 samples are refused", False)
    except ValueError as error:
        expect("5 samples are refused", "it takes 6" in str(error), error)

    # As a property: of a skewed distribution, with median 0, at least 95 % of the intervals hold the median.
    rng = random.Random(2)
    held = 0
    for _ in range(4000):
        low, high = results.median_interval([2 ** rng.gauss(0, 3) - 1 for _ in range(9)])
        held += low <= 0 <= high
    expect("at least 95 % of the intervals of 9 samples hold the median", 0.95 <= held / 4000 < 0.98, held)


def check_ratios():
    ours = {"slow": samples(*range(20, 45)), "fast": samples(*range(10, 35))}
    theirs = samples(*(1.1 * us for us in range(10, 35)))
    (ratio,) = turns.ratios("burst", theirs, ours, ("slow", "fast", "not run"))
    right = ratio["stage"] == "fast" and ratio["samples"] == 25 and ratio["regime"] == "burst"
    expect("the ratio is that of the fastest stage, round by round", right and all(
        abs(ratio[field] - 1.1) < 1e-12 for field in ("median", "low", "high")), ratio)
    expect("a ratio whose interval excludes 1 is a factor",
           results.ratio_text(ratio) == "1.100 times the time of fast (1.100 to 1.100)", ratio)
    drifting = samples(*(us * (1.02 if i % 2 else 0.99) for i, us in enumerate(range(10, 35))))
    (ratio,) = turns.ratios("sustained", drifting, ours, ("fast",))
    expect("one whose interval holds 1 is no difference",
           results.ratio_text(ratio) == "no difference from fast (0.990 to 1.020)", ratio)
    none = turns.ratios("burst", theirs, ours, ("other",))
    expect("without a stage that ran there is no ratio", none == [], none)
    try:
        turns.ratios("burst", theirs[1:], ours, ("fast",))
        expect("samples of other rounds are refused", False)
    except ValueError:
        expect("samples of other rounds are refused", True)

    summary = turns.summary(samples(4, 1.23456789, 2, 3))
    expect("a time has its median, quartiles and samples in their order", summary == {
        "median": 2.5, "p25": 1.8086419725, "p75": 3.25, "samples": 4, "each": [4, 1.2346, 2, 3]}, summary)


def check_sets():
    """Inputs are cold, by what a contender touches: not by what its chapter's other contenders do."""
    l2_bytes = 60 * 2 ** 20
    for touched in (4 * 1024, 2 ** 20, 2 * 2 ** 20, 50 * 2 ** 20, 180 * 2 ** 20, 2 ** 32):
        sets = turns.sets_for(touched, l2_bytes)
        cold = turns.stays_cold(touched, sets, l2_bytes)
        expect(f"{sets} sets of {touched} bytes are enough and no more", (cold or sets == turns.MOST_SETS)
               and (sets == 1 or touched * (sets - 1) <= 3 * l2_bytes))
        runs = {wanted: turns.cold_runs(touched, sets, l2_bytes, wanted) for wanted in (1, 8, 256)}
        expect("... and each run finds its inputs cold", all(
            min(wanted, sets) <= count <= (turns.MOST_RUNS if cold else sets)
            for wanted, count in runs.items()), runs)
    expect("a sample is about 4 ms of runs", [turns.runs_for(us) for us in (1, 100, 3000, 9000)]
           == [256, 40, 1, 1])


def check_turns():
    calls = []

    def sampler(name):
        def sample():
            calls.append(name)
            return len(calls)
        return sample

    found = turns.take_turns({name: sampler(name) for name in "abc"}, 50, random.Random(1))
    rounds = [calls[i:i + 3] for i in range(0, len(calls), 3)]
    expect("each takes its turn in each round, and in one more that is not kept",
           len(rounds) == 51 and all(sorted(one) == list("abc") for one in rounds), rounds)
    expect("in all orders", len({tuple(one) for one in rounds}) == 6)
    expect("sample i is of round i", all(3 * (i + 1) < found[name][i] <= 3 * (i + 2)
                                         for name in "abc" for i in range(50)), found)


def check_clocks():
    readings = [{"sm_clock_mhz": 1980, "memory_clock_mhz": 3201, "power_w": 400.0, "reasons": 0x4},
                {"sm_clock_mhz": 1500, "memory_clock_mhz": 3201, "power_w": 700.0, "reasons": 0x20}]
    means = nvml.means(readings)
    expect("readings are averaged, and all reasons named", means == {
        "sm_clock_mhz": 1740, "memory_clock_mhz": 3201, "power_w": 550.0,
        "throttle_reasons": ["sw_power_cap", "sw_thermal_slowdown"]}, means)
    expect("no readings are null", set(nvml.means([]).values()) == {None})
    of_all = turns.mean_clocks([means, {**means, "sm_clock_mhz": 1760, "throttle_reasons": []},
                                nvml.means([])])
    expect("and so are samples", of_all == {**means, "sm_clock_mhz": 1750}, of_all)
    expect("no clocks are null", set(turns.mean_clocks([nvml.means([])] * 9).values()) == {None})
    gpu = nvml.Nvml("GPU-none")
    expect("without NVML, it says why there are no clocks", gpu.missing and gpu.read() is None, gpu.missing)


# --- Our stages ---

PROGRAM = """#!{python}
import json, sys
size, stages = sys.argv[sys.argv.index("--size") + 1], sys.argv[sys.argv.index("--stage") + 1]
if size == "3":
    sys.exit("no such size")
skipped = {{"third": "needs a GPU of another kind"}}
print(json.dumps({{"ready": stages.split(",")[:2], "skipped": skipped}}), flush=True)
for line in sys.stdin:
    regime, name = line.split()
    if name == "dies":
        print("an error\\nof CUDA", file=sys.stderr)
        sys.exit(7)
    if name == "babbles":
        print("hello", flush=True)
    elif name == "empty":
        print(json.dumps({{}}), flush=True)
    elif name not in stages:
        print(json.dumps({{"error": name + ": ready are first"}}), flush=True)
    else:
        print(json.dumps({{"us": 12.5, "regime": regime}}), flush=True)
"""


def check_program(folder):
    program = folder / "01_multiply_add"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)

    def failing(what, status, *texts, shape=(4096, 1024), asked="burst first", path=program):
        try:
            with OurStages(path, shape, ["first", "second", "third"]) as ours:
                ours.ask(*asked.split())
        except ProgramFailed as failure:
            right = failure.status == status and all(text in str(failure) for text in texts)
            expect(what, right and "\n" not in str(failure), f"{failure.status}: {failure}")
            return
        expect(what, False)

    with OurStages(program, (4096, 1024), ["first", "second", "third"]) as ours:
        expect("the program says which stages are ready, and why others are not",
               (ours.ready, list(ours.skipped)) == (["first", "second"], ["third"]), vars(ours))
        answers = [ours.ask("burst", "first"), ours.ask("sustained", "second")]
    expect("it answers each question", answers == [{"us": 12.5, "regime": "burst"},
                                                   {"us": 12.5, "regime": "sustained"}], answers)
    expect("it ends with its input", ours.process.returncode == 0, ours.process.returncode)
    with OurStages(folder / "none", (1,), []) as ours:
        expect("without stages there is no program", ours.ready == [])
    failing("a program that ends is reported with its words", 1, "exit status 7: an error of CUDA",
            asked="burst dies")
    failing("... before it is ready, too", 1, "exit status 1: no such size", shape=(3,))
    failing("a program that is not there is bad usage", 2, "none: No such file", path=folder / "none")
    failing("an error is passed on", 1, "01_multiply_add --take-turns: other: ready are first",
            asked="burst other")
    failing("an answer that is not JSON is shown", 1, "expected a JSON object, found 'hello'",
            asked="burst babbles")
    failing("an answer without a time, too", 1, "burst empty: expected us, found {}", asked="burst empty")


# --- Names ---


def check_names():
    expect("each chapter with contenders has its module and its stages", set(MODULES) == set(OURS) and all(
        (ROOT / "plots" / "contenders" / f"{module}.py").is_file() for module in MODULES.values()))
    for chapter, by_result in OURS.items():
        sources = (ROOT / "chapters" / chapter).glob("*.cuh")
        known = {name for source in sources for name in re.findall(r'"(\d+_\w+)"', source.read_text())}
        named = {stage for stages in by_result.values() for stage in stages}
        expect(f"{chapter} has the stages that its contenders are compared with", named <= known,
               named - known)


# --- Files ---


def entrant(name, **changed):
    """As one that has been timed, for what makes a file of it."""
    contender = types.SimpleNamespace(name=name, idea="an idea", moved=None, flops=0, against="02_fused",
                                      ours=("02_fused", "03_float4"), kernels=(1,))
    return types.SimpleNamespace(**{"contender": contender, "problem": "", "error": 1e-7, "last_places": None,
                                    "integers": False, "counted": 1, "read_bytes": 12, "write_bytes": 4,
                                    **changed})


def check_quoted(stored, shape, measured):
    """The table of a page, of a new file and of an older one."""
    ours, *rows = update.peers(f"{stored} {shape[0]}", None).splitlines()[3:]
    right = (ours.endswith(" ours") and "burst: " in rows[0] and "not exact; " in rows[1]
             and "wrong: launches 3 kernels; " in rows[2])
    expect("a page can quote peers, without those that cannot be imported", right and len(rows) == 3, rows)
    *_, row = update.fastest(f"{stored} {shape[0]} 03_float4", None).splitlines()
    ratios = {peer["name"]: peer["ratios"][0]["median"] for peer in measured["stages"][:2]}
    name = min(ratios, key=ratios.get)
    expect("... and the fastest one that is right", f" {name} " in row
           and ("same (" in row or f"{ratios[name]:.3f} (" in row), row)
    path = results.peers_of(stored)
    new = path.read_text()
    path.write_text(json.dumps([run | {"stages": older(run["stages"])} for run in json.loads(new)]))
    update.runs_of.cache_clear()
    old = update.peers(f"{stored} {shape[0]}", None)
    path.write_text(new)
    expect("... of an older file, too", "torch" in old and "burst: " not in old and "not exact" in old, old)


def older(stages):
    """The stages as older files have them: without ratios, and `wrong` where they are not exact."""
    return [{field: value for field, value in stage.items() if field not in ("exact", "ratios")}
            | ({"status": "wrong"} if stage.get("exact") is False else {}) for stage in stages]


def check_shown():
    """Which peers a figure shows."""
    def peer(name, us, stage, idea="fused", **changed):
        compared = [{"stage": stage}] if stage else []
        return {"name": name, "idea": idea, "status": "ok", "exact": True, "ratios": compared,
                "time_us": {"median": us}, **changed}

    def shown(stages):
        return [stage["name"] for stage in results.shown_peers({"stages": stages})]

    written = "PyTorch as written: two kernels"
    stages = [peer("a", 9, "1_x", written), peer("b", 3, "1_x"), peer("c", 2, "1_x"), peer("d", 1, "2_y"),
              peer("e", 9, "2_y", written), peer("f", 7, None), peer("g", 1, "1_x", status="wrong"),
              {"name": "h", "idea": "", "status": "skipped", "time_us": None}]
    expect("a figure shows PyTorch as written and the fastest other one of each kind that is right",
           shown(stages) == ["a", "c", "d", "e", "f"], shown(stages))
    ours = [plot.Stage("1_x", "ours", 1, {"time_us": {"median": 2.0}})]
    hot = peer("i", 9.0, "1_x")
    hot["ratios"] = [{"stage": "1_x", "regime": "burst", "median": 1.5}]
    hot["time_us"] |= {"p25": 6.0, "p75": 12.0}
    drawn = plot.on_our_scale(hot, {stage.name: stage for stage in ours})["time_us"]
    expect("... at the time that its ratio gives beside ours",
           drawn == {"median": 3.0, "p25": 2.0, "p75": 4.0}, drawn)
    stages = older(json.loads((COMMITTED / "peers_03_quantize_int8.json").read_text())[-1]["stages"])
    expect("... of an older file all", shown(stages) == [stage["name"] for stage in stages], shown(stages))


def check_file(folder):
    """The files of peers.py can be read, drawn and quoted."""
    timed = [entrant("torch"), entrant("Triton", integers=True, error=1.0),
             entrant("broken", problem="launches 3 kernels", error=float("nan"))]
    shape = CHAPTER[1]["shape"]
    rng = random.Random(3)
    names = [("peer", one.contender.name) for one in timed] + [("ours", "03_float4")]
    found = {"burst": {name: samples(*(rng.uniform(2, 3) for _ in range(25))) for name in names}}
    found["warm"] = {name: found["burst"][name] for name in names[:-1]}
    found["sustained"] = {name: [{"us": rng.uniform(2, 3), **nvml.means([])} for _ in range(9)]
                          for name in names}
    entries = [peer_entries.entry(one, found) for one in timed]
    entries.append(peer_entries.entry_left_out(entrant("QuACK").contender, "skipped",
                                               "quack cannot be imported"))
    measured = {**CHAPTER[1], "torch": "2.11", "stages": entries,
                "ours": [{"name": "03_float4", **peer_entries.times(found, ("ours", "03_float4"))}]}
    stored = folder / "01_multiply_add.json"
    stored.write_text(json.dumps(CHAPTER))
    path = results.peers_of(stored)
    runs = peer_entries.replaced([{**measured, "shape": CHAPTER[0]["shape"]}, {"shape": [7]}], measured,
                                 [tuple(one["shape"]) for one in CHAPTER])
    path.write_text(json.dumps(runs, allow_nan=False))
    expect("a file holds the shapes of the chapter in their order",
           [one["shape"] for one in results.read_runs(path)] == [CHAPTER[0]["shape"], shape])
    ratios = [(ratio["regime"], ratio["stage"], ratio["samples"]) for ratio in entries[0]["ratios"]]
    expect("ratios are of the stage that ran, in both regimes",
           ratios == [("burst", "03_float4", 25), ("sustained", "03_float4", 9)], ratios)
    remarks = [results.remark(one) for one in entries]
    expect("a wrong contender and one that is not exact say so", remarks[:3] == ["", "not exact", "wrong"],
           remarks)
    errors = [results.error_text(one) for one in (*entries[:3], {"error": 0.1, "error_last_places": 0.5})]
    expect("errors are in units of the last place where there are any",
           errors == ["1e-07", "1e+00", "none", "0.5ulp"], errors)
    expect("of older files, too", results.remark({"status": "wrong"}) == "not exact")
    rows = [peer_entries.row(one) for one in entries]
    expect("the terminal says what was skipped and what is wrong", "skipped: quack cannot" in rows[3]
           and "wrong: launches 3 kernels" in rows[2] and "03_float4" in rows[0], rows)

    check_quoted(stored, shape, measured)
    runs = json.loads(path.read_text())
    runs[1]["stages"][0]["ratios"][0]["low"] = "much"
    path.write_text(json.dumps(runs))
    try:
        results.read_runs(path)
        expect("a bad ratio is refused", False)
    except results.BadFile as bad:
        expect("a bad ratio is refused", "[1].stages[0].ratios[0].low: expected a number" in str(bad), bad)


# --- Messages ---


def check_refused(folder):
    stored = folder / "01_multiply_add.json"
    none = folder / "none"
    expect_refused("a folder that is not there", PEERS, [none], 2, "has no JSON of a chapter with peers")
    expect_refused("a name that is too long", PEERS, ["a" * 5000], 2, "File name too long")
    expect_refused("a folder without a chapter", PEERS, [folder], 2,
                   "has no JSON of a chapter with peers: 01_multiply_add")
    for text, named in (("", "not JSON"), ("[", "not JSON"), ("{}", "expected a list of runs (docs/json.md)"),
                        ("7", "expected a list of runs"), ('[{"schema": 1}]', "[0].chapter")):
        stored.write_text(text)
        expect_refused(f"a file that holds {text!r}", PEERS, [folder], 2,
                       f"peers.py: {stored}: {named}")
    CHAPTER[0]["device"]["name"] = "none"
    stored.write_text(json.dumps(CHAPTER))
    expect_refused("a shape that the chapter does not have", PEERS, [folder, "--shapes", "7x7"], 2,
                   "7x7 is not a shape of 01_multiply_add.json")
    expect_refused("... to be sustained", PEERS, [folder, "--sustained", "7x7"], 2, "7x7 is not a shape of")
    expect_refused("another chapter's name", PEERS, [folder, "--chapters", "00_first_kernel"], 2,
                   "invalid choice: '00_first_kernel'")
    expect_refused("a chapter that the folder does not have", PEERS,
                   [folder, "--chapters", "06_tensor_cores"], 2, "has no JSON of a chapter")
    expect_refused("programs that are not built", PEERS, [folder, "--programs", none], 2,
                   "01_multiply_add is not a program")
    (folder / "01_multiply_add").write_text("")
    expect_refused("no PyTorch, no GPU, or another card than the chapter's", PEERS,
                   [folder, "--programs", folder], 3,
                   "PyTorch is not installed", "finds no GPU", "is from none")


def main():
    check_interval()
    check_ratios()
    check_sets()
    check_turns()
    check_clocks()
    check_names()
    check_shown()
    for check in (check_program, check_file, check_refused):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))


main()
