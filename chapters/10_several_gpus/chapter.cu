/// \file
/// Chapter 10: h = residual + the sum of x over all GPUs, y = rmsnorm(h); from stage 8 on, the sum of x where
/// x is a Linear's product. The ladder: one row per stage; compiled once for each device.
#include "01_unfused.cuh"
#include "02_one_shot.cuh"
#include "03_release.cuh"
#include "04_two_shot.cuh"
#include "05_mail.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "06_dependent.gpu.cuh"
#include "07_nccl.gpu.cuh"
#include "08_linear.gpu.cuh"
#include "09_tiles.sm90a.cuh"
#include "10_copies.sm90a.cuh"
#endif

namespace DEVICE::several_gpus {
namespace {

template <class T>
constexpr Stage normalises(Stage stage) {
  if (!stage.output) stage.output = kIsFloat<T> ? "h_float32 y_float32" : "h y";
  if (!stage.roundings) stage.roundings = roundings;
  stage.exact_roundings = exact_roundings;
  if (!stage.needs) stage.needs = kRows;
  return stage;
}

/// A stage whose x is a Linear's.
constexpr Stage of_linear(Stage stage) {
  stage.output = "own_sum";
  stage.roundings = roundings_of_own_sum;
  stage.exact_roundings = exact_roundings;
  stage.against = "08_linear";
  return stage;
}
/// The same on H100s or H200s.
constexpr Stage of_linear_on_hopper(Stage stage) {
  stage.needs = "H100s or H200s (sm_90a); equal parts of rows and features";
  stage.capability = 90;
  stage.no_other_capability = true;
  return of_linear(stage);
}

using BFloat16 = __nv_bfloat16;

const Stage kStages[] = {
    normalises<BFloat16>(stage<Unfused>({.name = "01_unfused",
                                         .idea = "two kernels: the sum over all GPUs, then residual and norm",
                                         .kernels = 2,
                                         .roundings = roundings_of_stored_sum})),
    normalises<BFloat16>(stage<OneShot<BFloat16, ByFences>>(
        {.name = "02_one_shot", .idea = "one kernel: each GPU reads a row from all and normalises it"})),
    normalises<BFloat16>(stage<OneShot<BFloat16, ByRelease>>(
        {.name = "03_release", .idea = "flags by release and acquire, without fences"})),
    normalises<float>(stage<OneShot<float, ByRelease>>(
        {.name = "03_float32", .idea = "the same in float32", .against = "03_float32"})),
    normalises<BFloat16>(
        stage<TwoShot<BFloat16>>({.name = "04_two_shot",
                                  .idea = "each GPU normalises a part of the rows and sends y to all",
                                  .output = "own_h y",
                                  .needs = kWholeParts})),
    normalises<float>(stage<TwoShot<float>>({.name = "04_float32",
                                             .idea = "the same in float32",
                                             .output = "own_h_float32 y_float32",
                                             .needs = kWholeParts,
                                             .against = "03_float32"})),
    normalises<BFloat16>(stage<ByMail>(
        {.name = "05_mail", .idea = "few rows: x is sent, and is its own flag", .needs = "up to 512 rows"})),
    normalises<BFloat16>(
        gpu_only<struct Dependent>({.name = "06_dependent",
                                    .idea = "the same, launched while the kernel before it ends",
                                    .needs = "a GPU of compute capability 9.0, and up to 512 rows",
                                    .capability = 90})),
    normalises<BFloat16>(library<struct Nccl>({.name = "07_nccl",
                                               .idea = "library: ncclAllReduce, then residual and norm",
                                               .kernels = workbook::kAnyNumber,
                                               .roundings = roundings_of_stored_sum,
                                               .needs = "GPUs and NCCL",
                                               .exchanged_by_library = true})),
    of_linear(library<struct Linear>({.name = "08_linear",
                                      .idea = "library: x = a w^T by cuBLAS, then ncclReduceScatter",
                                      .kernels = workbook::kAnyNumber,
                                      .needs = "GPUs, cuBLAS and NCCL; equal parts of rows and features",
                                      .exchanged_by_library = true})),
    of_linear_on_hopper(gpu_only<struct Tiles>(
        {.name = "09_tiles", .idea = "one kernel: a tile is sent when it is finished, own rows come last"})),
    of_linear_on_hopper(gpu_only<struct Copies>(
        {.name = "10_copies", .idea = "the same, copied to the other GPU while the next is multiplied"})),
};

const Shape kSweep[] = {{{2, 1, 8192}},   {{4, 16, 1024}},  {{8, 16, 1024}},   {{2, 32, 8192}},
                        {{2, 128, 8192}}, {{2, 512, 8192}}, {{2, 2048, 8192}}, {{2, 8192, 8192}}};

}  // namespace

Chapter chapter() {
  return {.name = "10_several_gpus",
          .formula = "h = residual + sum of x, y = rmsnorm(h)",
          .dims = "GxRxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {{4, 8, 8192}},
          .gpu_shape = {{2, 128, 8192}},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .gpus = gpus};
}

}  // namespace DEVICE::several_gpus
