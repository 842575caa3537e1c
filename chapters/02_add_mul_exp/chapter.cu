/// \file
/// Chapter 02: out = exp((x + y) * 2), from three kernels to one, in fewer bytes and in fewer launches.
/// The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_fast_exp.cuh"
#include "04_float4.cuh"
#include "05_chain.cuh"
#include "06_in_flight.cuh"
#include "07_half.cuh"
#include "08_many.cuh"
#include "09_sum.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "08_dependent.gpu.cuh"
#endif
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#include "10_cub.gpu.cuh"
#endif

namespace DEVICE::add_mul_exp {
namespace {

/// A stage that computes `out`, with expf unless its row says otherwise.
constexpr Stage to_out(Stage stage) {
  stage.output = "out";
  if (!stage.roundings) stage.roundings = expf_roundings;
  return stage;
}

const Stage kStages[] = {
    to_out(stage<Unfused>(
        {.name = "01_unfused", .idea = "three kernels: two intermediates go through memory", .kernels = 3})),
    to_out(stage<Fused>({.name = "02_fused", .idea = "one kernel: the intermediates stay in registers"})),
    to_out(stage<FastExp>({.name = "03_fast_exp",
                           .idea = "__expf: less arithmetic, a larger error",
                           .roundings = fast_roundings})),
    to_out(stage<FoldedExp2>({.name = "03_folded_exp2",
                              .idea = "exp2f, with the factor 2 and log2(e) in one multiplication",
                              .roundings = fast_roundings})),
    to_out(stage<Float4>({.name = "04_float4", .idea = "16 bytes per load, written by hand"})),
    to_out(stage<FromChain>(
        {.name = "05_chain", .idea = "the same kernel, made by the compiler from a chain of functions"})),
    to_out(
        stage<InFlight>({.name = "06_in_flight", .idea = "two vectors of each array in flight per thread"})),
    stage<InHalves<__half>>({.name = "07_float16",
                             .idea = "half the bytes: float16 in and out, float32 between",
                             .output = "out_float16",
                             .roundings = expf_roundings}),
    stage<InHalves<__nv_bfloat16>>({.name = "07_bfloat16",
                                    .idea = "half the bytes: bfloat16 in and out, float32 between",
                                    .output = "out_bfloat16",
                                    .roundings = expf_roundings}),
    to_out(stage<Many>({.name = "08_many",
                        .idea = "stage 2 in 16 launches: what a launch costs",
                        .kernels = workbook::kAnyNumber})),
    to_out(gpu_only<struct Dependent>({.name = "08_dependent",
                                       .idea = "16 launches that may overlap: programmatic dependent launch",
                                       .kernels = workbook::kAnyNumber,
                                       .needs = "a GPU of compute capability 9.0",
                                       .capability = 90})),
    stage<Sum>({.name = "09_sum",
                .idea = "only the sum is wanted: the terms are never written",
                .output = "sum",
                .kernels = 2,
                .roundings = sum_roundings,
                .exact_roundings = exact_sum_roundings}),
    to_out(library<struct Cub>({.name = "10_cub",
                                .idea = "library: cub::DeviceTransform",
                                .needs = "a GPU and cub::DeviceTransform"})),
};

const Shape kSweep[] = {{1 << 10, 1, 1},    {1 << 12, 1, 1},   {1 << 14, 1, 1}, {100'000, 1, 1},
                        {300'000, 1, 1},    {1'000'000, 1, 1}, {1 << 20, 1, 1}, {5'000'000, 1, 1},
                        {20'000'000, 1, 1}, {1 << 26, 1, 1},   {1 << 28, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "02_add_mul_exp",
          .formula = "out = exp((x+y)*2)",
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

}  // namespace DEVICE::add_mul_exp
