"""Times what chapter 10 is compared with: PyTorch's all-reduces over several GPUs, then residual + RMSNorm;
with --linear, a Linear whose input features are spread over them, then a reduce-scatter.

Needs the number of GPUs that --gpus says, and PyTorch; each GPU has a process of its own, as with torchrun.

    python3 plots/peers_of_gpus.py results/peers.json
    python3 plots/peers_of_gpus.py results/peers.json --gpus 4 --rows 32 512
    python3 plots/peers_of_gpus.py results/linear_peers.json --linear --rows 2048 4096

The contenders: NCCL's all-reduce, and the one-shot and two-shot ones of torch.ops.symm_mem, each followed
by residual + RMSNorm from torch.compile (max-autotune-no-cudagraphs); and the norm alone. With --linear: the
product of 8192 output and 8192 / gpus input features alone, with NCCL's reduce-scatter behind it, and
torch.ops.symm_mem.fused_matmul_reduce_scatter. A sample is one replay of a CUDA graph of 20 calls, divided by
20; in each of 25 rounds all contenders take one, in a random order. NVLink multicast is not used:
TORCH_SYMM_MEM_DISABLE_MULTICAST and NCCL_NVLS_ENABLE=0 are set.
"""

import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from card import card
from results import fail

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, CALLS, ROUNDS = 8192, 20, 25


def residual_rms_norm(total, residual, weight):
    import torch
    h = total + residual
    wide = h.float()
    return h, (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5) * weight.float()).to(h.dtype)


def contenders(rows, group):
    """{name: a call} for so many rows on this GPU."""
    import torch
    import torch.distributed as distributed
    import torch.distributed._symmetric_memory as symmetric
    torch._dynamo.reset()
    norm = torch.compile(residual_rms_norm, mode="max-autotune-no-cudagraphs", dynamic=False)
    shared = symmetric.empty(rows, COLUMNS, device="cuda", dtype=torch.bfloat16)
    symmetric.rendezvous(shared, group)
    shared.zero_()  # sums of sums stay finite
    own, residual = torch.zeros_like(shared), torch.randn_like(shared)
    weight = torch.rand(COLUMNS, device="cuda", dtype=torch.bfloat16)
    operators = torch.ops.symm_mem

    def by_nccl():
        distributed.all_reduce(own)
        return norm(own, residual, weight)

    return {"norm alone": lambda: norm(own, residual, weight),
            "NCCL": lambda: distributed.all_reduce(own),
            "NCCL, then norm": by_nccl,
            "one_shot, then norm":
                lambda: norm(operators.one_shot_all_reduce(shared, "sum", group), residual, weight),
            "two_shot, then norm":
                lambda: norm(operators.two_shot_all_reduce_(shared, "sum", group), residual, weight)}


def linear_contenders(rows, group):
    """The same for the Linear, whose sum has rows / gpus rows on each GPU."""
    import torch
    import torch.distributed as distributed
    import torch.distributed._symmetric_memory  # torch.ops.symm_mem
    gpus = distributed.get_world_size()
    a = torch.rand(rows, COLUMNS // gpus, device="cuda", dtype=torch.bfloat16) - 0.5
    w = torch.rand(COLUMNS, COLUMNS // gpus, device="cuda", dtype=torch.bfloat16) - 0.5
    product = torch.empty(rows, COLUMNS, device="cuda", dtype=torch.bfloat16)
    own = torch.empty(rows // gpus, COLUMNS, device="cuda", dtype=torch.bfloat16)

    def by_nccl():
        torch.mm(a, w.t(), out=product)
        distributed.reduce_scatter_tensor(own, product)

    return {"product alone": lambda: torch.mm(a, w.t(), out=product),
            "product, then NCCL": by_nccl,
            "symm_mem's fused":
                lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(a, w.t(), "sum", 0, group)}


def graph_of(call):
    import torch
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    return graph


def sample(graph):
    """Microseconds of a call, the most of all GPUs."""
    import torch
    import torch.distributed as distributed
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    distributed.barrier()
    torch.cuda.synchronize()
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    us = torch.tensor(begin.elapsed_time(end) * 1000 / CALLS, device="cuda")
    distributed.all_reduce(us, op=distributed.ReduceOp.MAX)
    return us.item()


def timed(make_contenders, rows, group):
    """{name: microseconds, as a list} of all rounds."""
    calls = make_contenders(rows, group)  # their arrays live as long as these
    graphs = {name: graph_of(call) for name, call in calls.items()}
    times = {name: [] for name in graphs}
    order = random.Random(rows)  # the same in all processes
    for _ in range(ROUNDS):
        for name in order.sample(list(graphs), len(graphs)):
            times[name].append(sample(graphs[name]))
    return times


def work(rank, gpus, make_contenders, all_rows, path):
    """The work of one GPU's process."""
    import torch
    import torch.distributed as distributed
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29501")
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=gpus, device_id=torch.device("cuda", rank))
    shapes = []
    for rows in all_rows:
        times = timed(make_contenders, rows, distributed.group.WORLD.group_name)
        shapes.append({"shape": [gpus, rows, COLUMNS], "time_us": times})
        if rank == 0:
            print(f"{rows} rows: " + ", ".join(f"{name} {statistics.median(us):.1f} us"
                                               for name, us in times.items()), flush=True)
    if rank == 0:
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True,
                                text=True).stdout.strip()
        run = {"schema": 1, **card(), "gpus": gpus, "torch": torch.__version__, "commit": commit,
               "nccl": ".".join(map(str, torch.cuda.nccl.version())),
               "date": datetime.date.today().isoformat(), "shapes": shapes}
        pathlib.Path(path).write_text(json.dumps(run, indent=1) + "\n")
    distributed.destroy_process_group()


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("json", help="where the results go")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--linear", action="store_true", help="time the Linear and its reduce-scatter")
    parser.add_argument("--rows", type=int, nargs="+",
                        help="default: 1 32 128 512 2048 8192; with --linear, from 256 on")
    arguments = parser.parse_args()
    all_rows = arguments.rows or ([256, 512, 1024, 2048, 4096, 8192] if arguments.linear
                                  else [1, 32, 128, 512, 2048, 8192])
    if arguments.linear and any(rows % arguments.gpus for rows in all_rows):
        parser.error(f"--rows: with --linear, expected multiples of the {arguments.gpus} GPUs")
    os.environ.update(NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1")
    try:
        import torch
        import torch.multiprocessing as processes
    except ModuleNotFoundError:
        fail(3, "PyTorch is missing")
    if torch.cuda.device_count() < arguments.gpus:
        fail(3, f"--gpus {arguments.gpus}: there are {torch.cuda.device_count()}")
    make_contenders = linear_contenders if arguments.linear else contenders
    processes.spawn(work, args=(arguments.gpus, make_contenders, all_rows, arguments.json),
                    nprocs=arguments.gpus)


if __name__ == "__main__":
    main()
