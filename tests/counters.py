"""Reads the hardware's counters for known kernels with Nsight Compute and stores them for the tests.

Needs a GPU, ncu and a build with its GPU side:

    python3 tests/counters.py build/bin tests/data/counters_h200.json [CHAPTER/STAGE ...]

With stages, such as 01_multiply_add/02_fused, only these are counted. They are added to what the file holds,
with their own GPU and date. Each kernel runs once on 2^20 elements; launches of one stage are added up.
Shared-memory counters carry up to 3 % of noise.
"""

import datetime
import json
import pathlib
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "plots"))
from card import card, output_of, profiled, ready_stages

SIZE = 1 << 20
# Of chapters with more than one dimension: a small shape, and the one that is counted.
SHAPES = {"03_quantize_int8": ("16x64", "256x4096"), "04_relu_layernorm": ("16x64", "2048x512"),
          "05_linear_gelu": ("16x16x16", "256x64x256"), "06_tensor_cores": ("16x16x16", "256x64x256"),
          "07_gelu_dropout": ("16x64", "512x1024"), "08_attention": ("1x1x16x16x16", "2x1x128x192x64")}
# Of stages that do not run at that shape.
SHAPES_OF_STAGES = {"08_attention/11_split": "4x2x3x1000x64"}
METRICS = {
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    # Asynchronous copies to shared memory; their loads are among those above.
    "async_shared_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
}


def profile(program, *arguments):
    """The counters of every launch of the program, in order: [{field: value}]."""
    return [{field: int(values[metric]) for field, metric in METRICS.items()}
            for _, values in profiled(METRICS.values(), program, *arguments)]


def total(launches):
    sums = {field: sum(launch[field] for launch in launches) for field in METRICS}
    return {"launches": len(launches), **sums}


def counts_of(program, stage):
    size = SHAPES_OF_STAGES.get(f"{program.name}/{stage}") or SHAPES.get(program.name, ("", str(SIZE)))[1]
    return total(profile(program, "--device", "gpu", "--once", "--size", size, "--stage", stage))


def stages(program):
    """The stages that the chapter has on this device: those of its JSON that were not skipped."""
    return ready_stages(program, SHAPES.get(program.name, ("1024",))[0])


def text_of(result):
    """The JSON with a line for each kernel."""
    kernels = result["kernels"].items()
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(counts)}" for name, counts in kernels)
    return json.dumps({**result, "kernels": {}}, indent=1).replace("{}", "{\n" + rows + "\n }") + "\n"


def main():
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of the built programs")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("stages", nargs="*", metavar="CHAPTER/STAGE")
    arguments = parser.parse_args()

    programs = arguments.programs.resolve()
    today = datetime.date.today().isoformat()
    if arguments.stages:
        result = json.loads(arguments.output.read_text())
        for name in arguments.stages:
            chapter, stage = name.split("/")
            counts = counts_of(programs / chapter, stage)
            result["kernels"][name] = {**counts, "gpu": card()["gpu"], "date": today}
        arguments.output.write_text(text_of(result))
        return

    counted = programs / "counted_kernels"
    names = output_of(counted, "--list").splitlines()
    kernels = {name: total([launch]) for name, launch in zip(names, profile(counted), strict=True)}
    for program in sorted(programs.glob("[0-9][0-9]_*")):
        for stage in stages(program):
            kernels[f"{program.name}/{stage}"] = counts_of(program, stage)
    result = {**card(), "date": today, "size": SIZE,
              "command": f"python3 tests/counters.py {arguments.programs} {arguments.output.name}",
              "metrics": METRICS, "kernels": kernels}
    arguments.output.write_text(text_of(result))
    print(f"{len(kernels)} kernels and stages stored in {arguments.output}")


if __name__ == "__main__":
    main()
