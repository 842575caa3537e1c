/// \file
/// Chapter 01: out = q * k + v, from two kernels to one at the speed of memory.
/// The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_float4.cuh"
#include "04_in_flight.cuh"
#include "05_reduced.cuh"
#include "problem.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include "06_cub.gpu.cuh"
#endif

namespace DEVICE::multiply_add {
namespace {

/// A stage that computes `out`.
constexpr Stage to_out(Stage stage) {
  stage.output = "out";
  stage.roundings = elementwise_roundings;
  return stage;
}

const Stage kStages[] = {
    to_out(stage<Unfused>({.name = "01_unfused",
                           .idea = "two kernels: the product makes a round trip through memory",
                           .kernels = 2})),
    to_out(stage<Fused>({.name = "02_fused", .idea = "one kernel: the product stays in a register"})),
    to_out(stage<Float4>(
        {.name = "03_float4", .idea = "16 bytes per load: the same bytes in a quarter of the requests"})),
    to_out(stage<InFlight>(
        {.name = "04_in_flight", .idea = "several loads in flight per thread, and streaming hints"})),
    stage<Reduced>({.name = "05_reduced",
                    .idea = "only the sum is wanted: the output is never written",
                    .output = "sum",
                    .kernels = 2,
                    .roundings = sum_roundings,
                    .exact_roundings = exact_sum_roundings}),
    to_out(library<struct Cub>({.name = "06_cub",
                                .idea = "library: cub::DeviceTransform",
                                .needs = "a GPU and cub::DeviceTransform"})),
};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 26, 1, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::multiply_add
