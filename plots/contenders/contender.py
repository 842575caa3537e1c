"""Shared by all contenders: their description, and how far their results are off."""

import dataclasses
from typing import Callable, NamedTuple

import torch


class Found(NamedTuple):
    """The findings of a check of a result; the errors are as in docs/json.md."""

    error: float
    right: bool
    last_places: float = None  # of results in 16 bits


@dataclasses.dataclass
class Contender:
    """One way to compute a result of a chapter.

    `function` takes the inputs that `inputs` names and returns its result, one tensor or several. It is
    written as its users write it, so it allocates what it returns.
    """

    name: str
    idea: str
    function: Callable
    inputs: tuple
    check: Callable  # (inputs, results) -> Found
    kernels: tuple  # the numbers of kernels that it may launch; memsets and copies do not count
    ours: tuple = ()  # our stages that compute the same from the same types (ours.py)
    against: str = ""  # the stage that its speed-up is over; the chapter's first where none is named
    moved: tuple = None  # bytes that its kernels read and write; None: inputs and results, once each
    flops: float = 0  # of a chapter that is bound by arithmetic
    of_others: bool = False  # an open library's: if it cannot run here, it is skipped, not wrong
    skipped: str = ""  # why it cannot run here


# For each 16-bit type: the bits of its significand, and the exponent of its smallest number.
LAST_PLACES = {torch.bfloat16: (8, -133), torch.float16: (11, -24)}


def last_places(got, expected, terms):
    """The largest error in units of the last place: last_places() in common/harness/references/verify.hpp."""
    bits, least = LAST_PLACES[got.dtype]
    exponent = torch.frexp(expected).exponent - bits
    unit = torch.exp2(exponent.clamp(min=least).double()).maximum(2 ** -20 * terms)
    return float(((got.double() - expected).abs() / unit).max())


def compared(got, expected, terms, within):
    """Right if each element is off by at most `within`; the error is relative to `terms`. All in double."""
    off = (got.double() - expected).abs()
    return Found(float((off / terms).max()), bool((off <= within).all()),
                 last_places(got, expected, terms) if got.dtype in LAST_PLACES else None)
