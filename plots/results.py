"""Reads the JSON of chapters and peers (docs/json.md), for all scripts that draw, quote or extend it."""

import json
import math
import pathlib
import re
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = 1


class BadFile(Exception):
    """A file is not what docs/json.md says; the message names file and field."""


def interruptible(main):
    """Runs `main`, which Ctrl-C ends without a traceback, after its temporary files have been removed, and so
    does a file that cannot be read or written."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main()
    except OSError as error:
        fail(2, f"{error.filename or 'output'}: {error.strerror}")
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def fail(status, message):
    """Ends the program that was called: `message` on one line, after the program's name."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(status)


# --- What a file must hold ---

# Names that become parts of file names.
CHAPTER, TRACED_STAGE = re.compile("[0-9]{2}_[a-z0-9_]{1,60}"), re.compile("[A-Za-z0-9_]{1,60}")

TIMING = {"median": float, "p25": float, "p75": float, "samples": int}
DEVICE = {"kind": str, "name": str, "pin_gbytes_per_s": float, "l2_bytes": int}
TRAFFIC = {"expected_read_bytes": int, "expected_write_bytes": int}
STAGE = {"name": str, "idea": str, "status": str, "kernels": int}
RATIO = {"stage": str, "regime": str, "median": float, "low": float, "high": float, "samples": int}
RUN = {"chapter": CHAPTER, "device": DEVICE, "shape": [int], "dtype": str, "commit": str, "date": str,
       "stages": [STAGE]}
REQUEST = {"place": str, "operation": str, "space": str, "array": str, "bytes": int, "offsets": [int],
           "sectors": int, "wavefronts": int}
TRACE = {"chapter": CHAPTER, "shape": [int],
         "stages": [{"name": TRACED_STAGE, "idea": str,
                     "launches": [{"kernel": str, "requests": [REQUEST]}]}]}
MOST = 10 ** 18  # of any number
NAMES = {str: "a text", int: "a whole number", float: "a number"}


def require(value, form, where):
    """Raises BadFile unless `value` is built like `form`."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            raise BadFile(f"{where}: expected an object")
        for field, inner in form.items():
            if field not in value:
                raise BadFile(f"{where}.{field}: this field is missing")
            require(value[field], inner, f"{where}.{field}")
    elif isinstance(form, list):
        if not isinstance(value, list) or not value and form != [REQUEST]:
            raise BadFile(f"{where}: expected a list that holds something")
        for i, element in enumerate(value):
            require(element, form[0], f"{where}[{i}]")
    elif isinstance(form, re.Pattern):
        if not isinstance(value, str) or not form.fullmatch(value):
            raise BadFile(f"{where}: expected a name like {form.pattern}, found {json.dumps(value)[:40]}")
    else:
        accepted = (int, float) if form is float else form
        if not isinstance(value, accepted) or isinstance(value, bool):
            raise BadFile(f"{where}: expected {NAMES[form]}, found {json.dumps(value)[:40]}")
        if form is not str and not abs(value) <= MOST:  # nor NaN
            raise BadFile(f"{where}: expected {NAMES[form]} up to 1e18, found {json.dumps(value)[:40]}")


def require_positive(value, form, where):
    """Of what others are divided by."""
    require(value, form, where)
    if not value > 0:
        raise BadFile(f"{where}: expected a number above 0, found {json.dumps(value)[:40]}")


def require_shape(shape, where):
    if len(shape) not in (1, 2, 3, 5):
        raise BadFile(f"{where}: expected 1, 2, 3 or 5 numbers, found {len(shape)}")
    for d, dimension in enumerate(shape):
        require_positive(dimension, int, f"{where}[{d}]")


def require_traffic(stage, where):
    for field in ("expected_repeated_bytes", "expected_dram_bytes"):
        if field in stage["traffic"]:
            require(stage["traffic"][field], int, f"{where}.{field}")
    if moved_bytes(stage) <= 0 or dram_bytes(stage) < 0:
        raise BadFile(f"{where}: expected that bytes are moved")


def require_optional(stage, where):
    """Checks the fields that may be missing in a stage that is drawn."""
    for field, form in (("against", str), ("output", str), ("tflops", float), ("ceiling_us", TIMING)):
        if stage.get(field) is not None:
            require(stage[field], form, f"{where}.{field}")
    if stage.get("ceiling_us"):
        require_positive(stage["ceiling_us"]["median"], float, f"{where}.ceiling_us.median")


def require_schema(run, where):
    if not isinstance(run, dict) or "schema" not in run:
        raise BadFile(f"{where}.schema: this field is missing; is it the JSON of a chapter?")
    if run["schema"] != SCHEMA:
        found = json.dumps(run["schema"])[:40]
        raise BadFile(f"{where}.schema: {found}; this version reads {SCHEMA}: run the chapter again")


# --- Reading ---


def load(path, **options):
    """The JSON of a file; the options are those of json.loads."""
    try:
        return json.loads(path.read_text(), **options)
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BadFile(f"{path}: not JSON ({error})") from None
    except RecursionError:
        raise BadFile(f"{path}: its lists and objects are nested too deeply") from None


def peers_of(path):
    """The file of a chapter's peers, which is beside the chapter's own."""
    return path.with_name(f"peers_{path.name}")


def read_runs(path):
    """The runs that a file holds, one for each size."""
    runs = load(path)
    if not isinstance(runs, list) or not runs:
        raise BadFile(f"{path}: expected a list of runs (docs/json.md)")
    for i, run in enumerate(runs):
        where = f"{path}: [{i}]"
        require_schema(run, where)
        require(run, RUN, where)
        require_shape(run["shape"], f"{where}.shape")
        require_positive(run["device"]["pin_gbytes_per_s"] or 1, float, f"{where}.device.pin_gbytes_per_s")
        for s, stage in enumerate(run["stages"]):
            if stage["status"] == "ok" or stage.get("time_us"):
                require(stage, {"traffic": TRAFFIC}, f"{where}.stages[{s}]")
                require_traffic(stage, f"{where}.stages[{s}].traffic")
            for r, ratio in enumerate(stage.get("ratios", [])):
                require(ratio, RATIO, f"{where}.stages[{s}].ratios[{r}]")
            if stage["status"] != "ok":
                continue
            if not path.name.startswith("peers_"):
                require(stage, {"output": str}, f"{where}.stages[{s}]")
            require_optional(stage, f"{where}.stages[{s}]")
            for field in ("time_us", "time_warm_us") if run["device"]["kind"] == "gpu" else ():
                require(stage.get(field), TIMING, f"{where}.stages[{s}].{field}")
                require_positive(stage[field]["median"], float, f"{where}.stages[{s}].{field}.median")
            if run["device"]["kind"] == "cpu":
                number = {"value": float}
                require(stage, {"shown": {"read": number, "write": number}}, f"{where}.stages[{s}]")
    return runs


# --- What follows from it ---


def moved_bytes(stage):
    """The bytes that a stage should read and write; those that it should read again do not count."""
    traffic = stage["traffic"]
    repeated = traffic.get("expected_repeated_bytes", 0)
    return traffic["expected_read_bytes"] + traffic["expected_write_bytes"] - repeated


def dram_bytes(stage):
    """The bytes of a stage that no cache can spare DRAM: those that its rate and its ceiling are about."""
    return stage["traffic"].get("expected_dram_bytes", moved_bytes(stage))  # older files: as it was then


def base_name(stage, names):
    """The name of the stage that a speed-up is over: the first of `names` if the stage names none of them."""
    return stage["against"] if stage.get("against") in names else next(iter(names))


def remark(stage):
    """The remark after the name of a stage that has a time, in a table; "" for most.

    An integer result may be right and yet another than PyTorch's, operation by operation: next to a tie, a
    quotient that is rounded otherwise leads to the other step. In older files, all such peers are "wrong".
    """
    if "exact" not in stage:
        return "" if stage["status"] == "ok" else "not exact"
    return "wrong" if stage["status"] != "ok" else "" if stage["exact"] else "not exact"


def error_text(stage):
    """A stage's largest error: of 16-bit results in units of the last place, else as docs/json.md has it."""
    if stage.get("error_last_places") is not None:
        return f"{stage['error_last_places']:.1f}ulp"
    return "none" if stage["error"] is None else f"{stage['error']:.0e}"


def right_peers(run):
    """The peers that were timed and are right; those that are not exact are among them."""
    return [stage for stage in run["stages"] if stage.get("time_us") and remark(stage) != "wrong"]


def shown_peers(run):
    """The peers that figures and tables of stages show: of all right ones that are compared with the same
    stage of ours, PyTorch as written and the fastest other one. Of older files, which compare with none, all.
    """
    groups, stages = {}, right_peers(run)
    for stage in stages:
        group = stage["ratios"][0]["stage"] if stage.get("ratios") else ""
        as_written = "ratios" not in stage or stage["idea"].startswith("PyTorch as written")
        groups.setdefault((group, as_written), []).append(stage)
    shown = []
    for (_, as_written), of_group in groups.items():
        fastest = min(of_group, key=lambda stage: stage["time_us"]["median"])
        shown += of_group if as_written else [fastest]
    return sorted(shown, key=stages.index)


# --- Paired samples ---


def interval_rank(count):
    """The largest k so that the k-th smallest and the k-th largest of `count` samples enclose, with a
    probability of at least 95 %, the median of what they are drawn from. 0 where there are too few samples.

    The k-th smallest is above the median if fewer than k samples are below it. Each sample is below it with
    probability 1/2, so their number is binomial, whatever the distribution of the samples.
    """
    rank, outside = 0, 0
    while True:
        outside += math.comb(count, rank)  # of 2^count cases, those with at most `rank` samples below
        if 2 * outside / 2 ** count > 0.05:
            return rank
        rank += 1


def median_interval(samples):
    """(low, high): the 95 % interval of the median, from order statistics."""
    rank = interval_rank(len(samples))
    if rank == 0:
        raise ValueError(f"{len(samples)} samples are too few for a 95 % interval: it takes 6")
    ordered = sorted(samples)
    return ordered[rank - 1], ordered[-rank]


def ratio_text(ratio):
    """A ratio of paired samples in words: a factor only where its interval excludes 1."""
    interval = f"{ratio['low']:.3f} to {ratio['high']:.3f}"
    if ratio["low"] <= 1 <= ratio["high"]:
        return f"no difference from {ratio['stage']} ({interval})"
    return f"{ratio['median']:.3f} times the time of {ratio['stage']} ({interval})"
