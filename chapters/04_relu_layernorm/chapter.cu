/// \file
/// Chapter 04: reductions, then y = layernorm(relu(x)).
/// The ladder: one row per stage; compiled once for each device.
#include "01_atomic.cuh"
#include "02_conflicts.cuh"
#include "03_tree.cuh"
#include "04_shuffles.cuh"
#include "05_vectorised.cuh"
#include "06_columns.cuh"
#include "07_unfused.cuh"
#include "08_three_passes.cuh"
#include "09_two_passes.cuh"
#include "10_long_rows.cuh"
#include "10_one_read.cuh"
#include "11_warp_a_row.cuh"
#include "12_split_rows.cuh"
#include "13_persistent.cuh"
#include "14_half.cuh"
#include "16_residual.cuh"
#include "problem.cuh"
#ifdef __CUDACC__
#include "12_clusters.gpu.cuh"
#endif
#if defined(__CUDACC__) && __has_include(<cub/device/device_segmented_reduce.cuh>)
#include "15_cub.gpu.cuh"
#endif

namespace DEVICE::relu_layernorm {
namespace {

constexpr const char* kBlockPerRow = "rows of at most 1048576 columns";
constexpr const char* kRegisters = "rows of at most 16384 columns";

/// A stage that reduces rows, to their sums of squares where the row does not say otherwise.
constexpr Stage reduces_rows(Stage stage) {
  if (!stage.output) stage.output = "squares";
  if (!stage.roundings) stage.roundings = sum_roundings;
  stage.exact_roundings = exact_sum_roundings;
  return stage;
}

/// A stage that reduces columns: in two kernels, or in one where a slice has all rows.
constexpr Stage reduces_columns(Stage stage) {
  stage.kernels = workbook::kAnyNumber;
  stage.roundings = column_roundings;
  stage.exact_roundings = exact_sum_roundings;
  stage.against = "06_columns";
  return stage;
}

/// A stage of residual and RMSNorm.
constexpr Stage adds_residual(Stage stage) {
  stage.roundings = row_roundings;
  stage.exact_roundings = exact_row_roundings;
  stage.against = "16_residual";
  stage.needs = kRegisters;
  return stage;
}

/// A stage that normalises rows.
constexpr Stage normalises(Stage stage) {
  if (!stage.output) stage.output = "y";
  stage.roundings = row_roundings;
  if (!stage.exact_roundings) stage.exact_roundings = exact_row_roundings;
  stage.against = "07_unfused";
  return stage;
}

const Stage kStages[] = {
    reduces_rows(stage<Atomic>({.name = "01_atomic",
                                .idea = "sums of squares: one atomic addition per element",
                                .kernels = 2,
                                .roundings = atomic_roundings,
                                .needs = "at most 16777216 elements: their additions wait for each other"})),
    reduces_rows(stage<Conflicts>({.name = "02_conflicts",
                                   .idea = "a tree in shared memory, lanes in the same bank",
                                   .needs = kBlockPerRow})),
    reduces_rows(stage<Tree>(
        {.name = "03_tree", .idea = "the tree the other way round: no conflicts", .needs = kBlockPerRow})),
    reduces_rows(stage<Shuffles>(
        {.name = "04_shuffles", .idea = "warps add up without shared memory", .needs = kBlockPerRow})),
    reduces_rows(stage<Vectorised>(
        {.name = "05_vectorised", .idea = "16 bytes per load, four loads in flight", .needs = kBlockPerRow})),
    reduces_rows(stage<RowMeans>({.name = "05_means",
                                  .idea = "the same kernel, absolute values: the mean of each row",
                                  .output = "row_means",
                                  .needs = kBlockPerRow})),
    reduces_columns(
        stage<Columns>({.name = "06_columns",
                        .idea = "along the columns: lanes side by side, no lane needs another's sum",
                        .output = "means"})),
    reduces_columns(stage<ColumnSquares>({.name = "06_squares",
                                          .idea = "the same kernel, squares: the sum of each column",
                                          .output = "column_squares"})),
    normalises(stage<Unfused>({.name = "07_unfused",
                               .idea = "ReLU and LayerNorm in five kernels",
                               .kernels = 5,
                               .needs = kBlockPerRow})),
    normalises(stage<ThreePasses>(
        {.name = "08_three_passes", .idea = "one kernel, three passes over the row", .needs = kBlockPerRow})),
    normalises(stage<TwoPasses>({.name = "09_two_passes",
                                 .idea = "mean and variance in one pass, by Welford and Chan",
                                 .exact_roundings = welford_roundings,
                                 .needs = kBlockPerRow})),
    normalises(stage<OneRead>({.name = "10_one_read",
                               .idea = "the row stays in registers; all loads are in flight at once",
                               .needs = kRegisters})),
    normalises(stage<OneReadPlain>({.name = "10_plain",
                                    .idea = "the same kernel without weight and bias",
                                    .output = "y_plain",
                                    .needs = kRegisters})),
    normalises(stage<OneReadReluLast>({.name = "10_relu_last",
                                       .idea = "the sibling: relu(layernorm(x)), in the same kernel",
                                       .output = "y_last",
                                       .needs = kRegisters})),
    normalises(stage<LongRows>({.name = "10_long_rows",
                                .idea = "the row stays in registers and shared memory",
                                .needs = "longer rows that a block can keep"})),
    normalises(stage<WarpPerRow>({.name = "11_warp_a_row",
                                  .idea = "short rows: one warp, or a part of one, per row",
                                  .needs = "rows of at most 512 columns, fewer than 2^32 threads"})),
    normalises(stage<SplitRows>(
        {.name = "12_split_rows", .idea = "long rows: several blocks per row, two kernels", .kernels = 2})),
    normalises(gpu_only<struct Clusters>(
        {.name = "12_clusters",
         .idea = "long rows: one cluster of blocks per row, one kernel and one read",
         .needs = "a GPU of compute capability 9.0, and long rows",
         .capability = 90})),
    normalises(
        stage<Persistent>({.name = "13_persistent",
                           .idea = "persistent blocks: weight and bias in registers, the next row in flight",
                           .needs = "rows of at most 8192 columns"})),
    normalises(stage<HalfRows<__half>>({.name = "14_float16",
                                        .idea = "half the bytes: float16 in and out, float32 between",
                                        .output = "y_float16",
                                        .needs = kRegisters})),
    normalises(stage<HalfRows<__nv_bfloat16>>({.name = "14_bfloat16",
                                               .idea = "half the bytes: bfloat16 in and out, float32 between",
                                               .output = "y_bfloat16",
                                               .needs = kRegisters})),
    reduces_rows(library<struct Cub>({.name = "15_cub",
                                      .idea = "library: cub::DeviceSegmentedReduce, sums of squares",
                                      .kernels = workbook::kAnyNumber,
                                      .needs = "a GPU and cub::DeviceSegmentedReduce"})),
    adds_residual(stage<ResidualRms<float>>({.name = "16_residual",
                                             .idea = "the sibling: h = x + residual, then RMSNorm of h",
                                             .output = "h y_rms"})),
    adds_residual(stage<ResidualRms<__nv_bfloat16>>({.name = "16_bfloat16",
                                                     .idea = "the same in bfloat16: half the bytes",
                                                     .output = "h_bfloat16 y_rms_bfloat16"})),
};

const Shape kSweep[] = {{262144, 128, 1}, {4096, 1024, 1},  {2048, 2048, 1},   {65536, 1024, 1},
                        {32768, 4096, 1}, {4096, 32768, 1}, {1024, 131072, 1}, {64, 1 << 20, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "04_relu_layernorm",
          .formula = "y = layernorm(relu(x))",
          .dims = "RxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {2048, 512, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::relu_layernorm
