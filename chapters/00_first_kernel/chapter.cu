/// \file
/// Chapter 00: out = 2 * x, the first kernel.
/// The ladder; compiled once for each device.
#include "01_one_block.cuh"
#include "02_coalesced.cuh"
#include "03_grid.cuh"
#include "problem.cuh"

namespace DEVICE::first_kernel {
namespace {

constexpr auto& kStages = kLadder<OneBlock, Coalesced, Grid>;

// One element shows what a launch costs; 2^26, what the memory gives.
const Shape kSweep[] = {{1, 1, 1},       {1 << 10, 1, 1}, {1 << 14, 1, 1}, {1 << 18, 1, 1},
                        {1 << 20, 1, 1}, {1 << 22, 1, 1}, {1 << 24, 1, 1}, {1 << 26, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "00_first_kernel",
          .formula = "out = 2*x",
          .dims = "N",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 24, 1, 1},
          .fill = fill};
}

}  // namespace DEVICE::first_kernel
