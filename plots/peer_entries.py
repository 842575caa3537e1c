"""The results of contenders that peers.py stores, in the form of docs/json.md, and shows on the terminal."""

import math

from results import error_text, ratio_text
from turns import mean_clocks, ratios, summary


def size_of(shape):
    return "x".join(map(str, shape))


def times(samples, key):
    """The times of a contender or of one of our stages."""
    timed = {"time_us": summary(samples["burst"][key])}
    if key in samples["warm"]:
        timed["time_warm_us"] = summary(samples["warm"][key])
    if key in samples.get("sustained", ()):
        timed["time_sustained_us"] = summary(samples["sustained"][key])
        timed["sustained"] = mean_clocks(samples["sustained"][key])
    return timed


def all_ratios(samples, contender):
    """Of both regimes."""
    found = []
    for regime in ("burst", "sustained"):
        of_regime = samples.get(regime, {})
        if ("peer", contender.name) in of_regime:
            ours = {name: of_stage for (side, name), of_stage in of_regime.items() if side == "ours"}
            found += ratios(regime, of_regime["peer", contender.name], ours, contender.ours)
    return found


NO_COUNTS = ("load_requests", "load_sectors", "store_requests", "store_sectors", "shared_load_wavefronts",
             "shared_store_wavefronts", "shared_requests", "atomic_sectors", "contended",
             "compulsory_read_bytes", "compulsory_write_bytes", "approximate")


def entry_left_out(contender, status, message):
    return {"name": contender.name, "idea": contender.idea, "status": status, "message": message,
            "error": None, "kernels": contender.kernels[0], "traffic": None, "time_us": None,
            "time_warm_us": None, "tflops": None}


def finite(error):
    return error if error is not None and math.isfinite(error) else None


def entry(entrant, samples):
    """The entry of a contender that was timed."""
    contender = entrant.contender
    read, written = contender.moved or (entrant.read_bytes, entrant.write_bytes)
    timed = times(samples, ("peer", contender.name))
    us = timed["time_us"]["median"]
    return {"name": contender.name, "idea": contender.idea, "status": "wrong" if entrant.problem else "ok",
            "message": entrant.problem, "error": finite(entrant.error),
            "error_last_places": finite(entrant.last_places),
            "exact": not entrant.integers or entrant.error == 0,
            **({"against": contender.against} if contender.against else {}),
            "kernels": entrant.counted,
            "traffic": {**dict.fromkeys(NO_COUNTS), "expected_read_bytes": read,
                        "expected_write_bytes": written},
            **timed, "ratios": all_ratios(samples, contender),
            "ceiling_us": None, "registers": None, "spill_bytes": None, "occupancy": None,
            "gbytes_per_s": (read + written) / us * 1e-3,
            "tflops": contender.flops / us * 1e-6 if contender.flops else None, "fraction_of_ceiling": None}


def row(stage):
    """The line of a contender on the terminal; below it, its problem, and a ratio in each line."""
    says = [f"{ratio['regime']}: {ratio_text(ratio)}" for ratio in stage.get("ratios", [])]
    if stage["message"]:
        says.insert(0, f"{stage['status']}: {stage['message']}")
    head = f"  {stage['name']:34}"
    if stage["time_us"]:
        us = stage["time_us"]["median"]
        head += f"{us:10.2f} us  kernels {stage['kernels']}  error {error_text(stage)}"
    return "\n      ".join([head, *says])


def replaced(stored, measured, order):
    """The stored runs with the one that was measured in its place, in the order of the chapter's shapes."""
    by_shape = {tuple(run["shape"]): run for run in [*stored, measured]}
    return [by_shape[shape] for shape in order if shape in by_shape]
