"""Contenders that take turns: how often each runs, and what follows from their samples.

Nothing here needs a GPU.
"""

import random
import statistics

from results import median_interval


SAMPLE_US = 4000  # a sample holds about this much work
MOST_RUNS = 256  # in one graph
MOST_SETS = 128


# --- How many, as in common/gpu/timing.cu ---


def stays_cold(touched, sets, l2_bytes):
    """Whether a set is no longer in the L2 cache when its turn comes again."""
    return touched * sets >= 3 * l2_bytes


def sets_for(touched, l2_bytes):
    """How many sets a contender takes turns with: enough to stay cold, by the bytes that one run touches."""
    return min(3 * l2_bytes // touched + 1, MOST_SETS)


def runs_for(us):
    """How many runs make a sample of SAMPLE_US."""
    return min(max(int(SAMPLE_US / us), 1), MOST_RUNS)


def cold_runs(touched, sets, l2_bytes, wanted):
    """How many runs make a cold sample: no set twice unless they stay cold."""
    if stays_cold(touched, sets, l2_bytes):
        return max(wanted, min(sets, MOST_RUNS))
    return min(wanted, sets)


# --- Turns ---


def take_turns(samplers, rounds, rng=random):
    """{name: its samples, one for each round}, by {name: a function that takes a sample}.

    The order is a new random one in each round, so that a change of the clocks meets all of them, and who
    heats the card for whom is left to chance. A first round is not kept.
    """
    samples = {name: [] for name in samplers}
    for turn in range(rounds + 1):
        for name in rng.sample(list(samplers), len(samplers)):
            sample = samplers[name]()
            if turn > 0:
                samples[name].append(sample)
    return samples


# --- What follows from samples ---


def microseconds(samples):
    return [sample["us"] for sample in samples]


def summary(samples):
    """A time as in docs/json.md. A sample is {"us": microseconds}, and clocks in sustained mode."""
    us = microseconds(samples)
    p25, median, p75 = statistics.quantiles(us, n=4, method="inclusive")
    return {"median": median, "p25": p25, "p75": p75, "samples": len(us),
            "each": [float(f"{sample:.5g}") for sample in us]}


def mean_clocks(samples):
    """Of samples in sustained mode: mean clocks and power, and all reasons for throttling that were met."""
    found = {}
    for field in ("sm_clock_mhz", "memory_clock_mhz", "power_w"):
        known = [sample[field] for sample in samples if sample.get(field) is not None]
        found[field] = statistics.fmean(known) if known else None
    reasons = [sample["throttle_reasons"] for sample in samples if sample.get("throttle_reasons") is not None]
    found["throttle_reasons"] = sorted(set().union(*reasons)) if reasons else None
    return found


def ratios(regime, samples, ours, stages):
    """A contender's time over that of the fastest of `stages`, round by round; nothing where none has run.

    `ours` holds the samples of our stages by name, from the same rounds.
    """
    timed = [stage for stage in stages if stage in ours]
    if not timed:
        return []
    fastest = min(timed, key=lambda stage: statistics.median(microseconds(ours[stage])))
    paired = [theirs / us
              for theirs, us in zip(microseconds(samples), microseconds(ours[fastest]), strict=True)]
    low, high = median_interval(paired)
    return [{"stage": fastest, "regime": regime, "median": statistics.median(paired), "low": low,
             "high": high, "samples": len(paired)}]
