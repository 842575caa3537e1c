/// \file
/// Chapter 00: out = 2 * x, the first kernel.
/// The ladder: one row per stage; compiled once for each device.
#include "01_one_block.cuh"
#include "02_coalesced.cuh"
#include "03_grid.cuh"
#include "problem.cuh"

namespace DEVICE::first_kernel {
namespace {

/// A stage that computes `out`.
constexpr Stage to_out(Stage stage) {
  stage.output = "out";
  stage.roundings = no_roundings;
  return stage;
}

const Stage kStages[] = {
    to_out(stage<OneBlock>({.name = "01_one_block",
                            .idea = "one block of threads, each with a part of the array from end to end"})),
    to_out(stage<Coalesced>(
        {.name = "02_coalesced",
         .idea = "neighbouring threads take neighbouring elements: no byte of a sector is wasted"})),
    to_out(stage<Grid>(
        {.name = "03_grid", .idea = "a grid of blocks, one thread per element: the whole GPU has work"})),
};

// One element shows what a launch costs; 2^26, what the memory gives.
const Shape kSweep[] = {{1, 1, 1},       {1 << 10, 1, 1}, {1 << 14, 1, 1}, {1 << 18, 1, 1},
                        {1 << 20, 1, 1}, {1 << 22, 1, 1}, {1 << 24, 1, 1}, {1 << 26, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "00_first_kernel",
          .formula = "out = 2*x",
          .dims = "N",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 24, 1, 1},
          .fill = fill};
}

}  // namespace DEVICE::first_kernel
