/// \file
/// Chapter 03: q = clamp(round(x / scale + zero_point)) to int8, with one scale for all elements and with one
/// per row. The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_packed.cuh"
#include "04_wide.cuh"
#include "05_corrected.cuh"
#include "06_two_kernels.cuh"
#include "07_one_kernel.cuh"
#include "08_one_read.cuh"
#include "problem.cuh"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include "09_cub.gpu.cuh"
#endif

namespace DEVICE::quantize_int8 {
namespace {

/// A stage with one scale for all elements.
constexpr Stage one_scale(Stage stage) {
  stage.output = "q";
  stage.roundings = no_roundings;
  return stage;
}

/// A stage that finds a scale for each row.
constexpr Stage scale_per_row(Stage stage) {
  stage.output = "q_rows scales";
  stage.roundings = one_rounding;
  stage.needs = "rows of at most 131072 columns";
  return stage;
}

const Stage kStages[] = {
    one_scale(stage<Unfused>({.name = "01_unfused",
                              .idea = "five kernels: four floats go through memory for one byte",
                              .kernels = 5})),
    one_scale(stage<Fused>({.name = "02_fused", .idea = "one kernel"})),
    one_scale(stage<Packed>({.name = "03_packed", .idea = "float4 in, char4 out"})),
    one_scale(stage<Wide>({.name = "04_wide", .idea = "sixteen elements per thread, one 16-byte store"})),
    one_scale(stage<Corrected>(
        {.name = "05_corrected", .idea = "exact division in three instructions, two vectors per thread"})),
    scale_per_row(stage<TwoKernels>(
        {.name = "06_two_kernels", .idea = "a scale for each row: find it, then quantise", .kernels = 2})),
    scale_per_row(
        stage<OneKernel>({.name = "07_one_kernel", .idea = "one kernel, which reads its row twice"})),
    scale_per_row(
        stage<OneRead>({.name = "08_one_read", .idea = "the row stays in registers and shared memory"})),
    one_scale(library<struct Cub>({.name = "09_cub",
                                   .idea = "library: cub::DeviceTransform, one scale",
                                   .needs = "a GPU and cub::DeviceTransform"})),
};

const Shape kSweep[] = {{1, 500'000, 1},    {1, 1'000'000, 1}, {1, 5'000'000, 1}, {1, 10'000'000, 1},
                        {1, 50'000'000, 1}, {1, 1 << 28, 1},   {4096, 1024, 1},   {65536, 1024, 1},
                        {32768, 4096, 1},   {4096, 32768, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "03_quantize_int8",
          .formula = "q = clamp(round(x/scale + zero_point))",
          .dims = "RxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {256, 4096, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill};
}

}  // namespace DEVICE::quantize_int8
