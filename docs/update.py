"""Keeps what the pages quote equal to what is quoted: code, and the output of programs on the CPU device.

    python3 docs/update.py build/bin [PAGE...]  refreshes the quotations, of these pages or of all
    python3 docs/update.py --check build/bin    says which are out of date; exit status 1 if any
    python3 docs/update.py --help               lists the kinds of quotation

A page marks a quotation with a comment and holds it in the code block, or in the table, that follows.
"""

import ast
import functools
import importlib
import json
import math
import pathlib
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
from argparse import ArgumentParser, RawDescriptionHelpFormatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plots"))
from origin import require_origin
from results import (ROOT, BadFile, base_name, dram_bytes, error_text, fail, load, median_interval,
                     moved_bytes, peers_of, ratio_text, remark, right_peers, shown_peers)

KINDS = {}  # kind of quotation -> the function that makes one from what stands in its comment
FORMS = {}  # an example of each form of comment -> what it quotes


def quotes(forms):
    """Registers a function that makes quotations: {"KIND: an example": "what this quotes"}."""
    def register(function):
        FORMS.update(forms)
        KINDS.update({form.split(":")[0]: function for form in forms})
        return function
    return register


# --- Code and programs ---


def dedented(text):
    """Code without the indentation that its lines share; a #pragma has none, wherever it is."""
    lines = text.splitlines(keepends=True)
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip() and line[0] != "#")
    return "".join(line if line[0] == "#" else line[margin:] or "\n" for line in lines)


@quotes({"code: chapters/01_multiply_add/02_fused.cuh":
         "a stage's kernel: its file from `namespace` to the host part",
         "code: common/gpu/launch.hpp [launch]": "what stands between two such marks in the file"})
def code(what, _):
    path, _, mark = what.partition(" [")
    text = (ROOT / path).read_text()
    if mark:
        return dedented(text.split(f"// [{mark}\n")[1].rstrip(" "))
    kernel = re.search(r"^namespace DEVICE::\w+ \{\n\n(?:#ifdef WORKBOOK_GPU\n)?(.*?)"
                       r"^(?:#endif\n+)?(?:// --- On the host ---|\}  // namespace)", text, re.S | re.M)
    if not kernel[1]:
        sys.exit(f"update.py: {path} has no kernel: quote a part of it by a mark")
    return kernel[1].strip("\n") + "\n"


@quotes({"file: docs/starter.cu": "a whole file"})
def whole_file(path, _):
    return (ROOT / path).read_text()


@quotes({"python: chapters/09_pytorch/ladder.py eager": "functions and classes of a Python file"})
def python(what, _):
    path, *names = what.split()
    text = (ROOT / path).read_text()
    named = {getattr(node, "name", ""): node for node in ast.parse(text).body}
    return "\n\n\n".join(ast.get_source_segment(text, named[name]) for name in names) + "\n"


@quotes({"played: docs/starter.cu": "what ./workbook play prints of a file"})
@functools.cache
def played(path, programs):
    done = subprocess.run([programs / "workbook", "play", path], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"update.py: workbook play {path}: {done.stdout}{done.stderr}")
    return done.stdout


@quotes({"output: 01_multiply_add --device cpu": "what a program of build/bin prints"})
@functools.cache
def output(what, programs):
    program, *arguments = shlex.split(what)
    if arguments[:2] == ["--device", "cpu"]:
        return counted_run(programs, program, tuple(arguments[2:]))[0]
    if not (programs / program).is_file():
        raise BadFile(f"what {programs / program} prints, and there is no such program: build it")
    done = subprocess.run([programs / program, *arguments], capture_output=True, text=True, cwd=ROOT)
    return done.stdout


@functools.cache
def counted_run(programs, program, options):
    """The output of a chapter's program on the CPU device, and its counts, at one size."""
    if not (programs / program).is_file():
        raise BadFile(f"what {programs / program} counts, and there is no such program: build it")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counts.json"
        done = subprocess.run([programs / program, "--device", "cpu", "--json", file, *options], check=True,
                              capture_output=True, text=True, cwd=ROOT)
        return done.stdout, json.loads(file.read_text())[0]


COUNTED = ("kernels", "read", "write", "load_efficiency", "store_efficiency", "load_requests_per_32",
           "store_requests_per_32", "waves")


def counted_rows(run, stages, extra=()):
    """A table of what the CPU device counts of stages: the program's own headings and numbers, the JSON's
    `columns` and `shown`. `extra` is a column: its group, its heading, and a text for each stage."""
    headings = {column["name"]: column for column in run["columns"]}
    for stage in stages:
        if stage["traffic"]["atomic_sectors"]:
            raise BadFile(f"the counts of {stage['name']}, which has atomics: quote the program's output")
    columns = [["", "stage", *(stage["name"] for stage in stages)]]
    for name in COUNTED:
        column = headings[name]
        texts = [stage["shown"].get(name, {"text": "-"})["text"] for stage in stages]
        columns.append([column["group"], column["heading"], *texts])
    columns += [extra] if extra else []
    groups, rows = "", [""] * (1 + len(stages))
    for i, (group, *texts) in enumerate(columns):
        apart = len(groups) + len(group) - len(rows[0]) if group else 0  # two blanks between groups
        width = max(apart, *map(len, texts))
        rows = [f"{row}  {text:>{width}}" if i else f"{text:{width}}" for row, text in zip(rows, texts)]
        groups += group and group.rjust(len(rows[0]) - len(groups))
    return [groups, *rows]


@quotes({"counts: 01_multiply_add 01_unfused 02_fused":
         "what the CPU device counts of these stages, a row for each",
         "counts: 03_quantize_int8 --size 64x128 06_two_kernels": "the same at a size"})
def counts(what, programs):
    run, stages = counted_stages(what, programs)
    return page_text(counted_rows(run, stages))


def counted_stages(what, programs):
    """A run, and those of its stages that are named."""
    program, *words = what.split()
    stages = [word for word in words if re.match(r"\d+_", word)]
    options = tuple(word for word in words if word not in stages)
    if options:  # at a size of their own, the stages that are shown are enough
        options += ("--stage", ",".join(stages))
    run = counted_run(programs, program, options)[1]
    return run, [by_name(run["stages"])[name] for name in stages]


@quotes({"product counts: 05_linear_gelu 06_square 07_vectorised":
         "the same of stages that compute one product, with wavefronts per 32 multiplications"})
def product_counts(what, programs):
    run, stages = counted_stages(what, programs)
    each = math.prod(run["shape"]) / 32  # m x k x n
    wavefronts = [sum(stage["traffic"][f"shared_{kind}_wavefronts"] for kind in ("load", "store"))
                  for stage in stages]
    texts = [f"{number / each:.2f}" if number else "-" for number in wavefronts]
    return page_text(counted_rows(run, stages, ["waves per", "32 mul.", *texts]))


# --- Predictions ---

TABLES = {}  # kind of table -> the function that makes its rows from the name of a chapter


def makes_table(form, meaning):
    """Registers a function that makes a table in Markdown."""
    def register(function):
        FORMS[form] = meaning
        TABLES[form.split(":")[0]] = function
        return function
    return register


@functools.cache
def questions(chapter, programs):
    """The questions of `./workbook predict` about a chapter, with the counts of the run that pages quote."""
    program = programs / "workbook"
    if not program.is_file():
        raise BadFile(f"what {program} counts, and there is no such program: build it")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "counts.json"
        file.write_text(json.dumps([counted_run(programs, chapter, ())[1]]))
        done = subprocess.run([program, "predict", chapter, "--json", "--counts", file], capture_output=True,
                              text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"update.py: workbook predict {chapter}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def table_rows(heading, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in [heading, ["---"] * len(heading), *rows])


@makes_table("predictions: 01_multiply_add", "what the reader fills in, from chapters/*/lesson.json")
def predictions(chapter, programs):
    """Of what is not asked, the cell is empty, except for the speed-up of the stage that it is over."""
    asked = questions(chapter, programs)
    columns = [column for column in ("read", "write", "speed-up")
               if column in {question["asked"] for question in asked}]
    counted = counted_run(programs, chapter, ())[1]["stages"]
    bases = {base_of(by_name(counted)[question["stage"]], counted)["name"]
             for question in asked if question["asked"] == "speed-up"}
    rows = []
    for stage in dict.fromkeys(question["stage"] for question in asked):
        own = {question["asked"]: question for question in asked if question["stage"] == stage}
        cells = ["?" if column in own else "1.00x" if column == "speed-up" and stage in bases else ""
                 for column in columns]
        rows.append([stage, next(iter(own.values()))["does"], *cells])
    return table_rows(["stage", "what it does", *columns], rows)


@makes_table("answers: 01_multiply_add", "what is counted in answer to them, and why")
def answers(chapter, programs):
    return table_rows(["stage", "what", "counted", "why"],
                      [[question["stage"], question["asked"], question["text"], question["because"]]
                       for question in questions(chapter, programs)])


# --- Stored runs on a GPU ---


@functools.cache
def runs_of(path):
    """The runs of a stored file, by size."""
    runs = load(path)
    require_origin(path, runs)
    return {"x".join(map(str, run["shape"])): run for run in runs}


def card_of(run):
    return f"{run['device']['name']}, driver {run['device']['driver']}"


def by_name(stages):
    return {stage["name"]: stage for stage in stages}


def timed_stages(run):
    return [stage for stage in run["stages"] if stage["time_us"]]


def base_of(stage, stages):
    """The stage that its speed-up is over."""
    return by_name(stages)[base_name(stage, by_name(stages))]


def speed_up(stage, base):
    return base["time_us"]["median"] / stage["time_us"]["median"]


def paired(stage, other, times="time_us"):
    """How many times as fast as the other a stage is, round by round: the median, and its 95 % interval.
    None for older files, which do not hold each sample."""
    us, of_other = (entry[times].get("each") for entry in (stage, other))
    if not us or not of_other:
        return None
    ratios = [slower / faster for faster, slower in zip(us, of_other, strict=True)]
    return statistics.median(ratios), *median_interval(ratios)


def paired_text(ratio):
    median, low, high = ratio
    return f"{'same' if low <= 1 <= high else f'{median:.3f}'} ({low:.3f} to {high:.3f})"


def is_same(stage, other):
    """Whether there is no difference to speak of: the interval of the ratio holds 1. In older files, the
    middle halves of the samples overlap."""
    ratio = paired(stage, other)
    if ratio:
        return ratio[1] <= 1 <= ratio[2]
    a, b = stage["time_us"], other["time_us"]
    return a["p25"] <= b["p75"] and b["p25"] <= a["p75"]


def page_text(rows):
    return "\n".join(rows) + "\n"


def among(stages, first_to_last=""):
    """The stages from one to another, "A..B"; all where nothing is said."""
    if not first_to_last:
        return stages
    names = [stage["name"] for stage in stages]
    first, last = first_to_last.split("..")
    return stages[names.index(first):names.index(last) + 1]


@quotes({"times: plots/data/h200/01_multiply_add.json 1048576":
         "times of a size, from a stored run on a GPU",
         "times: plots/data/h200/06_tensor_cores.json 4096x1024x4096 01_wmma..11_cublaslt":
         "times of these stages alone",
         "times: plots/data/h200/02_add_mul_exp.json 1000000 01_unfused; 04_float4; torch.compile":
         "times of these stages and peers alone"})
def times(what, _):
    path, size, *rest = what.split(" ", 2)
    wanted = [one for one in rest if ".." in one]  # first and last stage
    listed = [name for one in rest if ".." not in one for name in one.split("; ")]
    run = runs_of(ROOT / path)[size]
    peers_file = peers_of(ROOT / path)
    peers = runs_of(peers_file).get(size) if peers_file.exists() else None
    pins = run["device"]["pin_gbytes_per_s"]
    # Peers with rounds of their own, where the card may be hotter, have tables of their own.
    timed = timed_stages(run) + (shown_peers(peers) if peers and "ours" not in peers else [])
    names = {stage["name"] for stage in among(run["stages"], *wanted)}
    others = {stage["name"] for stage in run["stages"]} - names
    timed = [stage for stage in timed if stage["name"] in names
             or stage["name"] not in others and base_of(stage, timed)["name"] in names]
    missing = set(listed) - {stage["name"] for stage in timed}
    if missing:
        raise BadFile(f"{path}: {', '.join(sorted(missing))} has no time at {size}")
    shown = [stage for stage in timed if not listed or stage["name"] in listed]
    width = max(15, *(len(stage["name"]) for stage in shown))
    arithmetic = any(stage["tflops"] for stage in timed)  # else nothing to say of it, and much of the bytes
    rows = [f"{card_of(run)}, n = {size}", "",
            f"{'stage':{width}}  median us          quartiles  GB/s  ceiling  pins  measured  "
            + ("TFLOP/s" if arithmetic else "predicted")]
    for stage in shown:
        time, base, stage_bytes = stage["time_us"], base_of(stage, timed), moved_bytes(stage)
        rate = dram_bytes(stage) / time["median"] * 1e-3
        quartiles = f"{time['p25']:.2f}-{time['p75']:.2f}"
        ceiling = f"{stage['fraction_of_ceiling']:7.0%}" if stage["fraction_of_ceiling"] else f"{'-':>7}"
        last = f"{stage['tflops']:7.1f}" if arithmetic else f"{moved_bytes(base) / stage_bytes:8.2f}x"
        rows.append(f"{stage['name']:{width}}  {time['median']:9.2f} {quartiles:>18}  {rate:4.0f}  "
                    f"{ceiling}  {rate / pins:4.0%}  {speed_up(stage, base):7.2f}x  {last}"
                    + (f"  {remark(stage)}" if remark(stage) else ""))
    return page_text(rows)


@quotes({"tflops: plots/data/h200/05_linear_gelu.json 4096x1024x4096 01_unfused; 02_coalesced":
         "time and TFLOP/s of these stages, from a stored run on a GPU"})
def tflops(what, _):
    path, size, names = what.split(" ", 2)
    run = runs_of(ROOT / path)[size]
    stages = by_name(timed_stages(run))
    rows = [f"{card_of(run)}, n = {size}, {run['date']}", "", f"{'stage':16}{'us':>10}{'TFLOP/s':>9}"]
    rows += [f"{name:16}{stages[name]['time_us']['median']:10.2f}{stages[name]['tflops']:9.1f}"
             for name in names.split("; ")]
    return page_text(rows)


def published_bandwidths():
    """The cards of --model: their full name and bandwidth in GB/s, by the name that the option takes."""
    source = (ROOT / "common/harness/tables/cards.cpp").read_text()
    rows = re.findall(r'\{"(.+)", "(.+)", (\d+), \d+, \{', source)
    return {card: (name, float(rate)) for card, name, rate in rows}


@quotes({"cards: 268435456 plots/data/h200/01_multiply_add.json rtx3060 h200: 01_unfused 02_fused":
         "times of stages that the bandwidth of cards predicts, and those that were measured"})
def cards(what, _):
    source, _, names = what.partition(": ")
    size, *asked = source.split()
    measured = [word for word in asked if word.endswith(".json")]
    runs = [runs_of(ROOT / path)[size] for path in measured]
    of_runs = [[by_name(run["stages"])[name] for name in names.split()] for run in runs]
    rows = [f"n = {size}, us", "",
            f"{'':34}{'GB/s':>6}" + "".join(f"{stage['name']:>12}" for stage in of_runs[0])]
    for name, rate in (published_bandwidths()[card] for card in asked if card not in measured):
        rows.append(f"{name + ', predicted':34}{rate:6.0f}"
                    + "".join(f"{moved_bytes(stage) / rate * 1e-3:12.0f}" for stage in of_runs[0]))
        rows += [f"{name + ', measured':34}{'':6}"
                 + "".join(f"{stage['time_us']['median']:12.0f}" for stage in stages)
                 for run, stages in zip(runs, of_runs) if run["device"]["name"] == name]
    return page_text(rows)


@quotes({"two cards: plots/data/h200/04_relu_layernorm.json plots/data/h100/04_relu_layernorm.json "
         "65536x1024 03_tree": "times of stages on two cards, and their ratio"})
def two_cards(what, _):
    one, other, size, names = what.split(" ", 3)
    runs = [runs_of(ROOT / path)[size] for path in (one, other)]
    stages = [by_name(timed_stages(run)) for run in runs]
    cards_of = [run["device"]["name"].split()[1] for run in runs]
    rows = [f"{run['device']['name']}, {run['date']}" for run in runs]
    rows += [f"n = {size}", "",
             f"{'stage':16}" + "".join(f"{card + ', us':>11}" for card in cards_of) + "  ratio"]
    for name in names.split("; "):
        times = [of_card[name]["time_us"]["median"] for of_card in stages]
        rows.append(f"{name:16}" + "".join(f"{time:11.2f}" for time in times) + f"{times[1] / times[0]:7.2f}")
    return page_text(rows)


@quotes({"issue: plots/data/sm_90a/07_gelu_dropout_instructions.txt 0.7 65536x1024 "
         "plots/data/h200/07_gelu_dropout.json ...; 02_fused fused; ...":
         "times of stages on some cards, beside those of their bytes, and of their kernel's instructions if "
         "that share of the issue slots is used; and the share that was used"})
def issue(what, _):
    """An issue slot is one instruction of one lane. The cards are those with an SM's 4 schedulers and 132
    SMs, H100 and H200; the clock is the one that was measured."""
    source, *asked = what.split("; ")
    table, share, size, *paths = source.split()
    per_element = {kernel: int(instructions) / int(elements) for kernel, elements, instructions in
                   re.findall(r"^(\S.*?) +(\d+) +(\d+) +[\d.]+$", (ROOT / table).read_text(), re.M)}
    runs = [runs_of(ROOT / path)[size] for path in paths]
    rows = [f"{card_of(run)}, {run['date']}" for run in runs]
    rows += [f"n = {size}; instructions as if {float(share):.0%} of the issue slots were used", "",
             f"{'us':16}{'instructions':>14}"
             + "".join(f"{run['device']['name'].split()[1] + ':':>8}{'bytes':>6}{'instr.':>8}{'measured':>10}"
                       f"{'slots':>7}" for run in runs)]
    for name, kernel in (one.split(" ", 1) for one in asked):
        row = f"{name:16}{per_element[kernel]:14.1f}"
        for run in runs:
            stage = by_name(timed_stages(run)).get(name)
            if not stage:  # newer than the run
                row += f"{'-':>14}{'-':>8}{'-':>10}{'-':>7}"
                continue
            slots_per_us = 132 * 4 * 32 * stage["burst"]["sm_clock_mhz"]
            in_all_slots = math.prod(run["shape"]) * per_element[kernel] / slots_per_us
            row += (f"{stage['ceiling_us']['median']:14.1f}{in_all_slots / float(share):8.1f}"
                    f"{stage['time_us']['median']:10.1f}{in_all_slots / stage['time_us']['median']:7.0%}")
        rows.append(row)
    return page_text(rows)


@quotes({"several: plots/data/h200/several/10_several_gpus.json plots/data/h200/several/peers.json "
         "01_unfused": "times of stages on several GPUs, and what peers_of_gpus.py has timed, by rows"})
def several(what, _):
    ours, theirs, *names = what.split()
    runs, peers = json.loads((ROOT / ours).read_text()), load(ROOT / theirs)
    of_peers = {tuple(shape["shape"]): {name: statistics.median(us) for name, us in shape["time_us"].items()}
                for shape in peers["shapes"]}
    runs = [run for run in runs if tuple(run["shape"]) in of_peers]
    first = runs[0]
    rows = [f"{peers['gpus']} x {first['device']['name']}, {first['date']}; torch {peers['torch']}, NCCL "
            f"{peers['nccl']}", "", f"{'rows':22}" + "".join(f"{run['shape'][1]:9}" for run in runs)]

    def add(name, times):
        rows.append(f"{name:22}" + "".join(f"{us:9.1f}" if us else f"{'-':>9}" for us in times))

    for name in names:
        of_runs = [by_name(run["stages"]).get(name) for run in runs]
        add(name, [stage["time_us"] and stage["time_us"]["median"] for stage in of_runs])
    for name in next(iter(of_peers.values())):
        add(name, [of_peers[tuple(run["shape"])][name] for run in runs])
    return page_text(rows)


@quotes({"peers: plots/data/h200/01_multiply_add.json 268435456":
         "what a size was compared with: the times of our stages and of their peers, in turns"})
def peers(what, _):
    """Those that were not installed are left out: a page says so once, in a sentence."""
    path, size = what.split()
    run = runs_of(peers_of(ROOT / path))[size]
    there = [stage for stage in run["stages"]
             if stage["status"] != "skipped" or "cannot be imported" not in stage["message"]]
    width = max(len(stage["name"]) for stage in there)
    rows = [f"{card_of(run)}, n = {size}, torch {run['torch']}, {run['date']}", "",
            f"{'':{width}}  median us  kernels    error"]
    rows += [f"{stage['name']:{width}}  {stage['time_us']['median']:9.2f}  ours"
             for stage in run.get("ours", [])]
    for stage in there:
        if not stage["time_us"]:
            rows.append(f"{stage['name']:{width}}  {stage['status']}: {stage['message']}")
            continue
        compared = [f"{ratio['regime']}: {ratio_text(ratio)}" for ratio in stage.get("ratios", [])]
        said = remark(stage)
        if said == "wrong":  # a right result of more kernels than were expected is no wrong one
            mark = "" if stage["message"].startswith("it launched") else "wrong: "
            said = mark + stage["message"]
        rows.append(f"{stage['name']:{width}}  {stage['time_us']['median']:9.2f}  {stage['kernels']:7}  "
                    f"{error_text(stage):>7}  "
                    + "; ".join(([said] if said else []) + compared))
    return page_text([one.rstrip() for one in rows])


@quotes({"fastest: plots/data/h200/04_relu_layernorm.json 4096x1024 10_one_read; ...":
         "stages, each at one size, and the fastest of the peers that took turns with it"})
def fastest(what, _):
    path, asked = what.split(" ", 1)
    runs = runs_of(peers_of(ROOT / path))
    first = next(iter(runs.values()))
    rows = [f"{card_of(first)}, torch {first['torch']}, {first['date']}", "",
            f"{'n':14}{'stage':15}{'us':>8}  {'fastest peer':41}its time / ours"]
    for size, stage in (one.split() for one in asked.split("; ")):
        ours = by_name(runs[size]["ours"])[stage]
        ratios = {peer["name"]: ratio for peer in right_peers(runs[size]) for ratio in peer["ratios"]
                  if ratio["stage"] == stage and ratio["regime"] == "burst"}
        name = min(ratios, key=lambda peer: ratios[peer]["median"])
        compared = paired_text([ratios[name][field] for field in ("median", "low", "high")])
        rows.append(f"{size:14}{stage:15}{ours['time_us']['median']:8.2f}  {name:41}{compared}")
    return page_text(rows)


@quotes({"rates: plots/data/h100/08_attention.json 64x64x4096x4096x128 ...; 16_three_groups; ...":
         "the TFLOP/s of stages and peers that took turns, at some sizes"})
def rates(what, _):
    path, rest = what.split(" ", 1)
    sizes, *names = rest.split("; ")
    stored, in_turns = runs_of(ROOT / path), runs_of(peers_of(ROOT / path))
    columns = []
    for size in sizes.split():
        flops = {stage["name"]: stage["tflops"] * stage["time_us"]["median"]
                 for stage in timed_stages(stored[size])}
        ours = {stage["name"]: flops[stage["name"]] / stage["time_us"]["median"]
                for stage in in_turns[size]["ours"]}
        columns.append(ours | {stage["name"]: stage["tflops"] for stage in in_turns[size]["stages"]})
    run = in_turns[sizes.split()[0]]
    rows = [f"{card_of(run)}, torch {run['torch']}, {run['date']}", "",
            f"{'TFLOP/s':36}" + "".join(f"{size:>22}" for size in sizes.split())]
    for name in names:
        cells = (f"{column[name]:22.1f}" if column.get(name) else f"{'-':>22}" for column in columns)
        rows.append(f"{name:36}" + "".join(cells))
    return page_text(rows)


@quotes({"ratios: plots/data/h200/01_multiply_add.json":
         "predicted and measured speed-up of each stage after the first, at all sizes of such a run"})
def ratios(path, _):
    rows = []
    for size, run in runs_of(ROOT / path).items():
        first, *others = timed_stages(run)
        if not rows:
            rows = [f"{card_of(run)}: times as fast as {first['name']}, measured (predicted)",
                    "", f"{'n':>9}" + "".join(f"{stage['name']:>14}" for stage in others)]
        cells = (f"{speed_up(stage, first):.2f} ({moved_bytes(first) / moved_bytes(stage):.2f})"
                 for stage in others)
        rows.append(f"{size:>9}" + "".join(f"{cell:>14}" for cell in cells))
    return page_text(rows)


@quotes({"saved: plots/data/h200/01_multiply_add.json 01_unfused 02_fused":
         "what the second stage takes less than the first, in us and as a share of the first's time, and "
         "what it would by bytes at the first's rate"})
def saved(what, _):
    path, first, second = what.split()
    rows = []
    for size, run in runs_of(ROOT / path).items():
        stages = by_name(run["stages"])
        a, b = stages[first], stages[second]
        if not (a["time_us"] and b["time_us"]):
            continue
        if not rows:
            rows = [card_of(run), "",
                    f"{'':16}{first:>14}{second:>16}{'saved, us':>20}{'of the first':>20}",
                    f"{'n':16}{'us':>14}{'us':>16}{'measured  by bytes':>20}{'measured  by bytes':>20}"]
        us = [stage["time_us"]["median"] for stage in (a, b)]
        by_bytes = (moved_bytes(a) - moved_bytes(b)) / moved_bytes(a) * a["ceiling_us"]["median"]
        measured = ("none", "none") if is_same(a, b) else (f"{us[0] - us[1]:.2f}", f"{1 - us[1] / us[0]:.1%}")
        rows.append(f"{size:16}{us[0]:14.2f}{us[1]:16.2f}{measured[0]:>10}{by_bytes:10.2f}"
                    f"{measured[1]:>10}{by_bytes / us[0]:10.1%}")
    return page_text(rows)


@quotes({"shares: plots/data/h200/06_tensor_cores.json 4096x4096x4096 02_mma 11_gemm; ...":
         "the speed of stages as a share of another's that computes the same, each at one size"})
def shares(what, _):
    path, asked = what.split(" ", 1)
    runs = runs_of(ROOT / path)
    rows = [card_of(next(iter(runs.values()))), "",
            f"{'n':18}{'stage':16}{'us':>10}   {'beside':16}{'us':>10}{'speed':>9}"]
    for size, stage, other in (one.split() for one in asked.split("; ")):
        a, b = (by_name(timed_stages(runs[size]))[name] for name in (stage, other))
        if a["output"] != b["output"]:
            raise BadFile(f"{path}: {stage} computes {a['output']} and {other} {b['output']}: compare "
                          "stages that compute the same")
        speed = "same" if is_same(a, b) else f"{speed_up(a, b):.1%}"
        rows.append(f"{size:18}{stage:16}{a['time_us']['median']:10.2f}   {other:16}"
                    f"{b['time_us']['median']:10.2f}{speed:>9}")
    return page_text(rows)


@quotes({"sustained: plots/data/h200/sustained/06_tensor_cores.json 8192x8192x8192 11_cublaslt":
         "stages at one size in bursts and sustained, how many times as fast as that stage, and the clocks"})
def sustained(what, _):
    path, size, other = what.split()
    run = runs_of(ROOT / path)[size]
    stages = [stage for stage in timed_stages(run) if stage.get("time_sustained_us")]
    width = max(len(stage["name"]) for stage in stages)
    rows = [f"{card_of(run)}, n = {size}, {run['date']}", ""]
    for title, times, clocks in (("in bursts", "time_us", "burst"),
                                 ("sustained", "time_sustained_us", "sustained")):
        rows.append(f"{title:{width}}{'us':>10}   {'times as fast as ' + other:31}{'SM MHz':>8}{'W':>6}")
        for stage in stages:
            ratio = paired(stage, by_name(stages)[other], times)
            beside = "" if stage["name"] == other else paired_text(ratio)
            rows.append(f"{stage['name']:{width}}{stage[times]['median']:10.2f}   {beside:31}"
                        f"{stage[clocks]['sm_clock_mhz']:8.0f}{stage[clocks]['power_w']:6.0f}")
    return page_text(rows)


@quotes({"misses: plots/data/h200/01_multiply_add.json 1048576": "what measured over predicted is made of"})
def misses(what, _):
    """The factors: a stage's share of its ceiling over the first stage's, and what ceilings are off by."""
    path, size = what.split()
    run = runs_of(ROOT / path)[size]
    first, *others = timed_stages(run)
    rows = [f"{card_of(run)}, n = {size}; "
            f"{first['name']} is at {first['fraction_of_ceiling']:.0%} of its ceiling", "",
            "                                  measured /     share of  over that of",
            "stage        predicted  measured  predicted  =  its ceiling   1st stage   x  ceilings"]
    for stage in others:
        predicted = moved_bytes(first) / moved_bytes(stage)
        measured = speed_up(stage, first)
        ceilings = first["ceiling_us"]["median"] / stage["ceiling_us"]["median"] / predicted
        share = stage["fraction_of_ceiling"]
        rows.append(f"{stage['name']:11}  {predicted:8.2f}x {measured:8.2f}x {measured / predicted:10.2f}"
                    f"     {share:11.0%} {share / first['fraction_of_ceiling']:11.2f}     {ceilings:8.2f}")
    return page_text(rows)


@quotes({"launches: plots/data/h200/01_multiply_add.json": "the speed-ups that bytes and launches predict"})
def launches(path, _):
    """A launch takes what the streaming kernel takes at the smallest size, and bytes what they take in it at
    the largest size, both for the second stage's bytes."""
    runs = list(runs_of(ROOT / path).values())
    timed = [timed_stages(run) for run in runs]
    launch = timed[0][1]["ceiling_us"]["median"]
    rate = moved_bytes(timed[-1][1]) / timed[-1][1]["ceiling_us"]["median"]

    def model(stage):
        return stage["kernels"] * launch + moved_bytes(stage) / rate

    rows = [f"{card_of(runs[0])}: times as fast as {timed[0][0]['name']}, measured (predicted)",
            f"predicted with {launch:.2f} us a launch and {rate * 1e-3:.0f} GB/s", "",
            f"{'n':>9}" + "".join(f"{stage['name']:>14}" for stage in timed[0][1:])]
    for run, (first, *others) in zip(runs, timed):
        cells = (f"{speed_up(stage, first):.2f} ({model(first) / model(stage):.2f})" for stage in others)
        rows.append(f"{run['shape'][0]:>9}" + "".join(f"{cell:>14}" for cell in cells))
    return page_text(rows)


@quotes({"caches: plots/data/h200/01_multiply_add.json 03_float4":
         "a stage with cold and with warm caches at all sizes, and the bandwidth that follows"})
def caches(what, _):
    path, name = what.split()
    runs = list(runs_of(ROOT / path).values())
    pins = runs[0]["device"]["pin_gbytes_per_s"]
    rows = [f"{card_of(runs[0])}, {name}; the pins can do {pins:.0f} GB/s", "",
            "        n  MB in all   cold us   GB/s   warm us   GB/s"]
    for run in runs:
        stage = by_name(run["stages"])[name]
        moved = moved_bytes(stage)
        cold, warm = stage["time_us"]["median"], stage["time_warm_us"]["median"]
        rows.append(f"{run['shape'][0]:>9} {moved * 1e-6:10.2f} {cold:9.2f} {moved / cold * 1e-3:6.0f} "
                    f"{warm:9.2f} {moved / warm * 1e-3:6.0f}")
    return page_text(rows)


@quotes({"launched: plots/data/h200/02_add_mul_exp.json 02_fused; 08_many":
         "stages with warm inputs in a CUDA graph and launched one by one, at the sizes up to 2^20"})
def launched(what, _):
    path, _, names = what.partition(" ")
    names = names.split("; ")
    runs = list(runs_of(ROOT / path).values())
    rows = [f"{card_of(runs[0])}: us in a graph, us launched one by one", "",
            " " * 9 + "".join(f"{name:>18}" for name in names),
            f"{'n':>9}" + f"{'graph':>9}{'launched':>9}" * len(names)]
    for run in runs:
        if run["shape"][0] > 1 << 20:
            continue
        stages = by_name(run["stages"])
        cells = (f"{stages[name][field]['median']:9.2f}"
                 for name in names for field in ("time_warm_us", "time_launched_us"))
        rows.append(f"{run['shape'][0]:>9}" + "".join(cells))
    return page_text(rows)


@quotes({"resources: plots/data/h200/01_multiply_add.json":
         "what the kernels of each stage take of a multiprocessor, at the last size; or FILE SIZE [A..B]"})
def resources(what, _):
    path, *where = what.split()
    runs = runs_of(ROOT / path)
    run = runs[where[0]] if where else list(runs.values())[-1]
    known = [stage for stage in among(run["stages"], *where[1:])
             if stage["time_us"] and not stage["idea"].startswith("library")]
    width = max(len(stage["name"]) for stage in known)
    rows = [card_of(run), "", f"{'stage':{width}}  kernels  registers  spilled bytes  occupancy"]
    rows += [f"{stage['name']:{width}}  {stage['kernels']:7} {stage['registers']:10} "
             f"{stage['spill_bytes']:14} {stage['occupancy']:10.0%}"
             for stage in known]
    return page_text(rows)


# --- Calls from PyTorch ---


def of_pytorch(module):
    """A module of chapter 09, which makes the tables of its programs."""
    folder = str(ROOT / "chapters" / "09_pytorch")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(module)


def heading_of_calls(run):
    return f"{run['device']}, PyTorch {run['torch']}, {run['date']}, {run['command']}"


@quotes({"calls: plots/data/h100/calls/09_pytorch.json costs":
         "a table of chapters/09_pytorch/ladder.py, costs or sizes",
         "calls: plots/data/h100/calls/09_pytorch.json costs 01_ctypes 02_custom_op":
         "its rows of these stages alone"})
def calls(what, _):
    ladder = of_pytorch("ladder")
    path, table, *chosen = what.split()
    run = load(ROOT / path)
    rungs = {rung: times for rung, times in run["rungs"].items() if rung in chosen or not chosen}
    rows = ladder.TABLES[table](rungs)
    return page_text(rows if chosen else [heading_of_calls(run), "", *rows])


@quotes({"operators: plots/data/h100/calls/operators.json": "the table of chapters/09_pytorch/measure.py"})
def operators(path, _):
    return page_text(of_pytorch("measured").table(load(ROOT / path)))


@quotes({"models: plots/data/h100/calls/models.json models":
         "a table of chapters/09_pytorch/models.py: losses, models or linear"})
def models(what, _):
    path, table = what.split()
    run = load(ROOT / path)
    return page_text([heading_of_calls(run), "", *of_pytorch("measured").MODEL_TABLES[table](run)])


# --- What Nsight Compute has said ---


def profiled(what):
    """The first rows of a table of a size that limits.py has profiled, and {stage: kernels} as requested."""
    path, size, stages = what.split(" ", 2)
    run = load(ROOT / path)[size]
    return ([f"{run['gpu']}, driver {run['driver']}, {size}, {run['date']}", ""],
            {stage: run["stages"][stage] for stage in stages.split("; ")})


@quotes({"limits: plots/data/h200/limits/03_quantize_int8.json 1x10000000 03_packed; 04_wide":
         "what ncu says of the kernels of stages at one size"})
def limits(what, _):
    rows, asked = profiled(what)
    rows += [f"{'':18}{'':>8}{'warp in-':>14}{'issue':>7}{'':>6}{'':>7}{'resident':>10}  "
             "warps wait mostly for",
             f"{'stage':18}{'us':>8}{'structions':>14}{'slots':>7}{'L2':>6}{'DRAM':>7}{'warps':>10}  "
             "(cycles an instruction)"]
    for stage, kernels in asked.items():
        if len(kernels) > 1:
            rows.append(stage)
        for kernel in kernels:
            name = stage if len(kernels) == 1 else "  " + kernel["kernel"]
            if len(name) > 40:  # a library's, which says everything
                rows.append(name[:70] + "...")
                name = ""
            waits = sorted(kernel["stalls"].items(), key=lambda wait: -wait[1])[:2]
            rows.append(f"{name:18}{kernel['time_ns'] / 1000:8.1f}{kernel['instructions']:14,.0f}"
                        f"{kernel['issue_percent']:6.0f}%{kernel['l2_percent']:5.0f}%"
                        f"{kernel['dram_percent']:6.0f}%{kernel['warps_percent']:9.0f}%  "
                        + ", ".join(f"{stall} {cycles:.1f}" for stall, cycles in waits))
    return page_text(rows)


@quotes({"cycles: plots/data/h200/limits/06_tensor_cores.json 8192x8192x8192 08_tanh; 11_gemm":
         "what ncu says of their clock, the tensor cores, and the memory that they ask for"})
def cycles(what, _):
    rows, asked = profiled(what)
    rows += [f"{'':18}{'':>8}{'million':>9}{'':>7}{'tensor':>8}{'million warp':>14}{'million sectors':>17}"
             f"{'GB from':>9}",
             f"{'stage':18}{'us':>8}{'cycles':>9}{'GHz':>7}{'cores':>8}{'instructions':>14}"
             f"{'asked of L2':>17}{'DRAM':>9}"]
    for stage, kernels in asked.items():
        for kernel in kernels:
            rows.append(f"{stage:18}{kernel['time_ns'] / 1000:8.0f}{kernel['cycles'] / 1e6:9.3f}"
                        f"{kernel['cycles'] / kernel['time_ns']:7.2f}{kernel['tensor_percent']:7.1f}%"
                        f"{kernel['instructions'] / 1e6:14.0f}{kernel['l2_sectors'] / 1e6:17.0f}"
                        f"{kernel['dram_read_bytes'] / 1e9:9.2f}")
    return page_text(rows)


FIELDS = {"load_requests": "requests", "load_sectors": "sectors", "store_requests": "requests",
          "store_sectors": "sectors", "shared_load_wavefronts": "load", "shared_store_wavefronts": "store",
          "atomic_sectors": "sectors"}
HEADING = [f"{'':36}{'loads':>17}{'stores':>17}{'shared wavefronts':>20}{'atomics':>9}",
           f"{'kernel':36}" + "".join(f"{heading:>9}" for heading in FIELDS.values())]


@functools.cache
def cpu_counts(programs, kernels):
    """The counts of the CPU device of these kernels, by name; all would take longer."""
    done = subprocess.run([programs / "cpu_counts", *kernels], capture_output=True, text=True)
    if done.returncode != 0:
        raise BadFile(f"counts of the CPU device: {done.stderr.strip()}")
    return json.loads(done.stdout)


def counters_row(name, values, mark=""):
    """A kernel that has not been counted, whose values are None, gets dashes."""
    cells = (mark + str(values[field]) if values else "-" for field in FIELDS)
    return f"{name:36}" + "".join(f"{cell:>9}" for cell in cells)


def both_rows(name, gpu, cpu):
    """The hardware's counters of a kernel and ours; ≈ where ours are marked as approximate."""
    mark = "≈" if cpu["approximate"] else ""
    rows = [name, counters_row("  GPU", gpu), counters_row("  CPU device", cpu, mark)]
    return rows + ([f"  {cpu['reason']}"] if cpu["reason"] else [])


@quotes({"counters: tests/data/counters_h200.json": "the hardware's counters that ours are equal to",
         "counters: tests/data/counters_h200.json differences":
         "the hardware's and ours where they differ, and why",
         "counters: tests/data/counters_h200.json mul; red": "the hardware's and ours of those kernels"})
def counters(what, programs):
    path, _, chosen = what.partition(" ")
    data = load(ROOT / path)
    gpu = {name: {**values, "atomic_sectors": values["atomic_sectors"] + values["reduction_sectors"],
                  "shared_store_wavefronts":
                  values["shared_store_wavefronts"] + values["async_shared_wavefronts"]}
           for name, values in data["kernels"].items()
           if not name.endswith(("_cub", "_dependent"))}  # for a GPU alone
    cpu = cpu_counts(programs, tuple((chosen or "differences").split("; ")))
    differing = [name for name in gpu if name in cpu and cpu[name]["reason"]]

    rows = [f"{data['gpu']}, driver {data['driver']}, {data['date']}, {data['command']}", "", *HEADING]
    if not chosen:
        rows[1] = f"{len(gpu) - len(differing)} kernels and stages"
        return page_text(rows + [counters_row(name, gpu[name]) for name in gpu if name not in differing])
    for name in differing if chosen == "differences" else chosen.split("; "):
        rows += both_rows(name, gpu.get(name), cpu[name])
    return page_text(rows)


# --- What the tests hold ---


@quotes({"speeds: tests/data/cpu_device_speed.json": "what bench_cpu_device has stored"})
def speeds(path, _):
    data = load(ROOT / path)
    rows = [f"{data['processor']}, compiler {data['compiler']}, {data['date']}, "
            f"bench_cpu_device --json {path}", "",
            f"{'':46}million traced accesses a second"]
    return page_text(rows + [f"{name:46}{kernel['million_per_second']:6.1f}"
                             for name, kernel in data["kernels"].items()])


@quotes({"supported: tests": "what its tests named \"dialect: ...\" say"})
def supported(program, programs):
    # Catch2 2 knows the first way, Catch2 3 the second.
    for options in (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"]):
        call = [programs / program, "dialect:*", *options]
        listed = subprocess.run(call, capture_output=True, text=True).stdout.splitlines()
        entries = [line.strip().removeprefix("dialect: ") for line in listed if "dialect: " in line]
        if entries:
            break
    return "".join(textwrap.fill(entry, 118, subsequent_indent="    ", break_on_hyphens=False) + "\n"
                   for entry in sorted(entries, key=str.casefold))


@quotes({"functions: tests/kernels/arithmetic_float.inc ...": "the functions that tables of operations name"})
def functions(tables, _):
    """Names before a bracket, but for the types and casts that operands need."""
    rows = "".join((ROOT / table).read_text() for table in tables.split())
    expressions = re.findall(r"^OPERATION\(\w+, [\w<>]+, (.*)\)$", rows, re.M)
    names = {name for row in expressions for name in re.findall(r"\b(\w+)\(", row)}
    names -= {"NUMBER", "__half", "__nv_bfloat16", "make_float2"}
    return textwrap.fill(" ".join(sorted(names)), 118, break_on_hyphens=False) + "\n"


@quotes({"unsupported: tests/cmake/check_unsupported.py": "what that test compiles, and the messages"})
def unsupported(script, _):
    call = [sys.executable, ROOT / script, "--list"]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


@quotes({"numbered: output: 01_multiply_add --device cpu":
         "another quotation, with a number below the heading of each column"})
def numbered(what, programs):
    kind, _, rest = what.partition(": ")
    rows = KINDS[kind](rest, programs).splitlines()
    at = next(i for i, row in enumerate(rows) if row.startswith("stage "))
    below = ""
    for number, heading in enumerate(re.finditer(r"\S+(?: \S+)*", rows[at]), 1):
        below = below.ljust((heading.start() + heading.end() - 3) // 2) + f"({number})"
    return page_text([*rows[:at + 1], below, *rows[at + 1:]])


# --- Pages ---

QUOTATION = re.compile(rf"(<!-- ({'|'.join(KINDS)}): (.+?) -->\n\n```\w*\n)(.*?)(```\n)", re.S)
TABLE = re.compile(rf"(<!-- ({'|'.join(TABLES)}): (.+?) -->\n\n)((?:\|.*\n)*)\n*")


def renewed(text, programs):
    def renew(match):
        head, kind, what, _, end = match.groups()
        return head + KINDS[kind](what, programs) + end

    def renew_table(match):
        head, kind, what, _ = match.groups()
        return head + TABLES[kind](what, programs) + "\n"  # without a blank line, what follows is a row

    return TABLE.sub(renew_table, QUOTATION.sub(renew, text))


def forms():
    """The kinds of quotation, for --help."""
    return "\n".join(f"<!-- {form} -->\n    {meaning}" for form, meaning in FORMS.items())


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    parser = ArgumentParser(description=__doc__, epilog=forms(), formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("programs", type=pathlib.Path, help="folder of the built programs")
    parser.add_argument("pages", type=pathlib.Path, nargs="*", metavar="PAGE",
                        help="these pages alone, such as docs/memory.md")
    arguments = parser.parse_args()
    programs = arguments.programs.resolve()

    stale = []
    pages = [page.resolve() for page in arguments.pages]
    for page in pages or [ROOT / "README.md", *sorted((ROOT / "chapters").glob("*/README.md")),
                          *sorted((ROOT / "docs").glob("*.md"))]:
        try:
            old = page.read_text()
        except (OSError, ValueError) as unread:
            fail(2, f"{page} cannot be read as a page: {unread}")
        try:
            new = renewed(old, programs)
        except BadFile as bad:
            fail(2, f"{page.relative_to(ROOT)} quotes {bad}")
        if new == old:
            continue
        stale.append(page)
        if not arguments.check:
            page.write_text(new)
    for page in stale:
        print(("out of date: " if arguments.check else "updated: ") + str(page.relative_to(ROOT)))
    if arguments.check and stale:
        print("python3 docs/update.py build/bin brings them up to date")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
