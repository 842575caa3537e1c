"""PyTorch's side of all chapters: random inputs, and a formula compiled in both modes."""

import importlib

import torch

from contenders.contender import Contender

AS_WRITTEN = "PyTorch as written: a kernel for each operation"  # the words by which figures know it


def uniform(count, low, high):
    return torch.empty(count, device="cuda").uniform_(low, high)


def compiled(formula, suffix="", **common):
    """The contenders that torch.compile makes of a formula: by default, and with its search for the best.

    Without CUDA graphs of its own, because all contenders are replayed in graphs.
    """
    search = torch.compile(formula, dynamic=False, mode="max-autotune-no-cudagraphs")
    return [Contender(f"torch.compile{suffix}", "fused by Inductor, which writes Triton",
                      torch.compile(formula, dynamic=False), **common),
            Contender(f"torch.compile, max-autotune{suffix}", "the same, the fastest of many variants",
                      search, **common)]


def missing(package):
    """Why a package cannot be imported; "" if it can."""
    try:
        importlib.import_module(package)
    except ImportError as error:
        return f"{package.partition('.')[0]} cannot be imported: {error}"
    return ""
