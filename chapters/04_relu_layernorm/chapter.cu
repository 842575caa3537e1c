/// \file
/// Chapter 04: reductions, then y = layernorm(relu(x)).
/// The ladder; compiled once for each device.
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
#include "12_clusters.gpu.cuh"
#include "12_split_rows.cuh"
#include "13_persistent.cuh"
#include "14_half.cuh"
#include "15_cub.gpu.cuh"
#include "16_residual.cuh"
#include "problem.cuh"

namespace DEVICE::relu_layernorm {
namespace {

constexpr auto& kStages =
    kLadder<Atomic, Conflicts, Tree, Shuffles, Vectorised, RowMeans, Columns, ColumnSquares, Unfused,
            ThreePasses, TwoPasses, OneRead, OneReadPlain, OneReadReluLast, LongRows, WarpPerRow, SplitRows,
            Clusters, Persistent, HalfRows<__half>, HalfRows<__nv_bfloat16>, Cub, ResidualRms<float>,
            ResidualRms<__nv_bfloat16>>;

const Shape kSweep[] = {{262144, 128, 1}, {4096, 1024, 1},  {2048, 2048, 1},   {65536, 1024, 1},
                        {32768, 4096, 1}, {4096, 32768, 1}, {1024, 131072, 1}, {64, 1 << 20, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "04_relu_layernorm",
          .formula = "y = layernorm(relu(x))",
          .dims = "RxC",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {2048, 512, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs};
}

}  // namespace DEVICE::relu_layernorm
