/// \file
/// Stage 20: stage 19 with bias and GELU in its epilogue. The sums begin with the bias, so that no addition
/// is left for the end, and GELU takes instructions of the special function unit. A warp stages 16 x 64
/// results in shared memory, and the TMA stores them: whole lines, and no thread computes an address.
#pragma once
#include "19_multicast.sm90a.cuh"

namespace DEVICE::linear_gelu {

/// 2^v and 1 / v within 2^-22, an instruction each.
__device__ inline float fast_exp2(float v) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}
__device__ inline float fast_reciprocal(float v) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(v));
  return result;
}

/// gelu() with erfc(|v| / sqrt(2)) = p(t) exp(-v^2 / 2), t = 1 / (1 + 0.3275911 |v| / sqrt(2)), within 1.5e-7
/// (M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 7.1.26).
struct FastGelu {
  __device__ float operator()(float v) const {
    const float size = fabsf(v), t = fast_reciprocal(1.0f + 0.23164189f * size);
    const float p = t * (0.254829592f +
                         t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    return fmaxf(v, 0.0f) - 0.5f * size * p * fast_exp2(-0.72134752f * v * v);
  }
};

/// gelu_tanh() with the hardware's tanh, within 2^-11 of it, and so the result within 2^-12 |v|.
struct FastGeluTanh {
  __device__ float operator()(float v) const {
    float tanh_of;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh_of) : "f"(v * (0.79788456f + 0.035677408f * v * v)));
    const float half = 0.5f * v;
    return half + half * tanh_of;
  }
};

/// The bias of a tile's columns, of which `column` is the first, as the first of its sums. n is even.
template <int Squares, int Sums>
__device__ void begin_with_bias(float (&sum)[Squares][Sums], const float* bias, int column, int n) {
#pragma unroll
  for (int j = 0; j < Sums; j += 4) {
    const int mine = column + 2 * j + threadIdx.x % 4 * 2;
    const float even = mine < n ? bias[mine] : 0.0f, odd = mine < n ? bias[mine + 1] : 0.0f;
#pragma unroll
    for (int r = 0; r < Squares; ++r) {
      sum[r][j] = sum[r][j + 2] = even;
      sum[r][j + 1] = sum[r][j + 3] = odd;
    }
  }
}

constexpr int kStagedRows = 16, kStagedColumns = 64;
using Staged = __nv_bfloat16[kStagedRows * kStagedColumns];

/// y = gelu(sums) for the tile at (row, column) of a warpgroup, by way of each warp's own `staged`.
template <class Gelu, int Squares, int Sums>
__device__ void store_by_tma(const float (&sum)[Squares][Sums], Gelu gelu_of, Staged& staged,
                             const CUtensorMap* y, int row, int column) {
  const int lane = threadIdx.x % 32, in_square = threadIdx.x / 32 % 4 * kStagedRows;
  const unsigned my_row = shared_address(staged) + lane % 16 * kRowBytes;
#pragma unroll
  for (int c = 0; c < Sums * 2; c += kStagedColumns)
#pragma unroll
    for (int r = 0; r < Squares; ++r) {
      unsigned pairs[kStagedColumns / 4];
#pragma unroll
      for (int j = 0; j < kStagedColumns / 4; ++j) {
        const __nv_bfloat162 pair =
            __floats2bfloat162_rn(gelu_of(sum[r][c / 2 + 2 * j]), gelu_of(sum[r][c / 2 + 2 * j + 1]));
        pairs[j] = reinterpret_cast<const unsigned&>(pair);
      }
      if (lane == 0) wait_for_stores();
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kStagedColumns / 8; j += 2)
        store_squares(my_row + ((j + lane / 16) ^ lane % 8) * 16, &pairs[2 * j]);
      publish_writes();
      __syncwarp();
      if (lane == 0) store_tile(y, row + r * 64 + in_square, column + c, staged);
    }
}

/// What the TMA knows of y, in tiles that a warp stages.
inline CUtensorMap output_of(const __nv_bfloat16* y, int m, int n) {
  return tensor_map(y, m, n, kStagedRows);
}

struct Shared20 {
  Ring17 ring;
  alignas(kTileAlignment) Staged staged[8];
};

/// y = gelu(x * w^T + bias) in bfloat16, inputs, blocks and grid as in stage 19, with kSharedBytes<Shared20>.
template <class Gelu>
__global__ void __launch_bounds__(kThreadsWith<2>) __cluster_dims__(2)
    linear_multicast(const __grid_constant__ Inputs in, const __grid_constant__ CUtensorMap y,
                     const float* bias, int m, int k, int n) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto& [ring, staged] = in_shared_memory<Shared20>();
  const int steps = pieces(k, kMmaDepth), group = warpgroup(), rank = blockIdx.x % 2;
  const int pairs = pairs_of(m, n);
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) ring.make_barriers(2 * 2 * 4);
  cluster.sync();
  Turn<Ring17::kSlots> turn;
  if (group == 2) {
    produce_pairs(ring, turn, in, m, n, rank, steps);
  } else {
    for (int i = blockIdx.x / 2; i < pairs; i += gridDim.x / 2) {
      const Place pair = pair_of(i, m, n);
      float sum[1][128];
      begin_with_bias(sum, bias, pair.column, n);
      consume(ring, turn, sum, group * 64, steps, ReleaseInBoth{});
      store_by_tma(sum, Gelu{}, staged[threadIdx.x / 32], &y, pair.row + rank * Ring17::kRows + group * 64,
                   pair.column);
    }
  }
  wait_for_stores();  // what is staged must stay until it has been read
  cluster.sync();
#endif
}

}  // namespace DEVICE::linear_gelu
