/// \file
/// Chapter 01: out = q * k + v, from two kernels to one at the speed of memory.
/// The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_float4.cuh"
#include "04_in_flight.cuh"
#include "05_reduced.cuh"
#include "06_cub.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::multiply_add {
namespace {

constexpr auto& kStages = kLadder<Unfused, Fused, Float4, InFlight, Reduced, Cub>;

const Shape kSweep[] = {{1 << 10, 1, 1}, {1 << 12, 1, 1}, {1 << 14, 1, 1},    {1 << 16, 1, 1},
                        {100'000, 1, 1}, {1 << 18, 1, 1}, {1'000'000, 1, 1},  {1 << 20, 1, 1},
                        {1 << 22, 1, 1}, {1 << 24, 1, 1}, {20'000'000, 1, 1}, {1 << 26, 1, 1},
                        {1 << 28, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "01_multiply_add",
          .formula = "out = q*k + v",
          .dims = "N",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 26, 1, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::multiply_add
