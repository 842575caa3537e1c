/// \file
/// Chapter 07: y = dropout(gelu(x)), forward and backward.
/// The ladder; compiled once for each device.
#include "01_unfused.cuh"
#include "02_fused.cuh"
#include "03_share_calls.cuh"
#include "04_sixteen_bits.cuh"
#include "05_eight_bits.cuh"
#include "06_fast.gpu.cuh"
#include "06_half.cuh"
#include "06_table.cuh"
#include "07_byte_mask.cuh"
#include "08_bit_mask.cuh"
#include "09_recomputed.cuh"
#include "09_table.cuh"
#include "10_row_sum.cuh"
#include "11_residual.cuh"
#include "12_rms_norm.cuh"
#include "13_graph.cuh"
#include "14_curand.gpu.cuh"
#include "problem.cuh"

namespace DEVICE::gelu_dropout {
namespace {

constexpr auto& kStages =
    kLadder<Unfused, Fused, ShareCalls, SixteenBits<Erf>, SixteenBits<Tanh>, EightBits, Float16,
            BFloat16<Erf>, BFloat16<Tanh>, Fast, FastFloat, ByTable<10>, ByTable<7>, SaveBytes, FromBytes,
            SaveBits, FromBits, Recomputed<Erf>, Recomputed<Tanh>, RecomputedBFloat16, FastBackward,
            FastBackwardFloat, BackwardByTable, RowSum, Residual, RmsNorm, Graph, Curand>;

const Shape kSweep[] = {
    {1024, 1024, 1}, {4096, 1024, 1}, {16384, 1024, 1}, {65536, 1024, 1}, {16384, 8192, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "07_gelu_dropout",
          .formula = "y = dropout(gelu(x), p)",
          .dims = "RxC",
          .arrays = kArrays,
          .stages = kStages,
          .sweep = kSweep,
          .cpu_shape = {512, 1024, 1},
          .gpu_shape = {65536, 1024, 1},
          .fill = fill,
          .has_exact_inputs = has_exact_inputs,
          .has_dropout = true};
}

}  // namespace DEVICE::gelu_dropout
