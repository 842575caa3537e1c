/// \file
/// Chapter 05: y = gelu(x * w^T + b) in float32, PyTorch's Linear and what follows it.
/// The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_coalesced.cuh"
#include "03_fused_naive.cuh"
#include "04_tiles.cuh"
#include "05_column.cuh"
#include "06_square.cuh"
#include "07_vectorised.cuh"
#include "08_pipelined.cuh"
#include "09_then_finish.cuh"
#include "09_warp_tiles.cuh"
#include "10_epilogue.cuh"
#include "11_cublas.gpu.cuh"
#include "12_late_gelu.cuh"
#include "problem.cuh"

namespace DEVICE::linear_gelu {
namespace {

constexpr auto& kStages =
    kLadder<Unfused, Coalesced, FusedNaive, Tiles, Column, Square, Vectorised, Pipelined, WarpTiles,
            ThenFinish, InEpilogue, InEpilogueTanh, Sgemm, Cublas, CublasLt, EarlyGelu, LateGelu>;

/// The same m and n with growing k: the epilogue saves the same, and the product costs more.
const Shape kSweep[] = {{{2048, 2048, 2048}}, {{4096, 256, 4096}},  {{4096, 512, 4096}},
                        {{4096, 1024, 4096}}, {{4096, 2048, 4096}}, {{4096, 4096, 4096}},
                        {{4096, 8192, 4096}}, {{8192, 256, 8192}}};

}  // namespace

Chapter chapter() {
  return {.name = "05_linear_gelu",
          .formula = "y = gelu(x * w^T + b)",
          .dims = "MxKxN",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {256, 64, 256},
          .gpu_shape = {4096, 1024, 4096},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .units = y_elements};
}

}  // namespace DEVICE::linear_gelu
