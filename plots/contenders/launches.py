"""How the Triton kernels of several chapters are launched."""

import triton

BLOCKS = [triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024, 2048) for warps in (4, 8)]


def elementwise(n):
    """One program for every BLOCK of n elements."""
    return lambda chosen: (triton.cdiv(n, chosen["BLOCK"]),)


MOST_COLUMNS = 65536  # as in Liger: a longer row would not fit into the registers of 1024 threads

ROW_WARPS = [triton.Config({}, num_warps=warps) for warps in (1, 2, 4, 8, 16, 32)]


def fitting(configs, arguments, **options):
    """The numbers of warps with which a thread has 4 to 64 elements of a row of BLOCK; else the most."""
    per_warp = options["BLOCK"] / 32
    return [config for config in configs if 4 <= per_warp / config.num_warps <= 64] or configs[-1:]


def too_long(columns):
    """Why one program cannot hold a row; "" if it can."""
    return f"needs at most {MOST_COLUMNS} columns: one program holds a row" if columns > MOST_COLUMNS else ""
