/// \file
/// For stages 8 to 10: accumulators that start with the bias, and an epilogue that stages its results
/// in shared memory for the TMA to store.
#pragma once
#include "fast_gelu.gpu.cuh"
#include "halves.hpp"
#include "hopper.sm90a.cuh"

namespace DEVICE::tensor_cores {

// [epilogue]
/// Sets the accumulators of a tile that starts at `column` to the bias of their columns. n is even.
template <int Rows64, int Accumulators, class T>
__device__ void start_with_bias(float (&acc)[Rows64][Accumulators], const T* bias, int column, int n) {
#pragma unroll
  for (int j = 0; j < Accumulators; j += 4) {
    const int mine = column + 2 * j + threadIdx.x % 4 * 2;
    const float even = mine < n ? to_float(bias[mine]) : 0.0f;
    const float odd = mine < n ? to_float(bias[mine + 1]) : 0.0f;
#pragma unroll
    for (int r = 0; r < Rows64; ++r) {
      acc[r][j] = acc[r][j + 2] = even;
      acc[r][j + 1] = acc[r][j + 3] = odd;
    }
  }
}

/// The part of a tile that a warp stages at a time.
constexpr int kStagedRows = 16, kStagedColumns = kSwizzledColumns;
using StagingBuffer = __nv_bfloat16[kStagedRows * kStagedColumns];

/// y = gelu(acc) for a warpgroup's tile at (row, column); each warp has a staging buffer of its own.
template <class Gelu, int Rows64, int Accumulators>
__device__ void store_by_tma(const float (&acc)[Rows64][Accumulators], Gelu gelu_of, StagingBuffer& staging,
                             const CUtensorMap* y, int row, int column) {
  const int lane = threadIdx.x % 32, in_row = threadIdx.x / 32 % 4 * kStagedRows;
  const unsigned my_row = shared_address(staging) + lane % 16 * kSwizzledRowBytes;
#pragma unroll
  for (int c = 0; c < Accumulators * 2; c += kStagedColumns)
#pragma unroll
    for (int r = 0; r < Rows64; ++r) {
      unsigned pairs[kStagedColumns / 4];
#pragma unroll
      for (int j = 0; j < kStagedColumns / 4; ++j) {
        const __nv_bfloat162 pair =
            __floats2bfloat162_rn(gelu_of(acc[r][c / 2 + 2 * j]), gelu_of(acc[r][c / 2 + 2 * j + 1]));
        pairs[j] = reinterpret_cast<const unsigned&>(pair);
      }
      if (lane == 0) tma_store_wait_read();
      __syncwarp();
#pragma unroll
      for (int j = 0; j < kStagedColumns / 8; j += 2)
        stmatrix_x4(my_row + ((j + lane / 16) ^ lane % 8) * 16, &pairs[2 * j]);
      fence_proxy_async();
      __syncwarp();
      if (lane == 0) tma_store(y, row + r * 64 + in_row, column + c, staging);
    }
}
// [epilogue]

/// The shared memory of a block with two consumers: a pipeline, and a staging buffer for each of their warps.
template <class P>
struct SharedStorage {
  P pipeline;
  alignas(kTileAlignment) StagingBuffer staging[8];
};

// --- On the host ---

/// The TMA's description of y, which it stores in tiles of a staging buffer.
inline CUtensorMap output_map(const __nv_bfloat16* y, int m, int n) {
  return tensor_map(y, m, n, kStagedRows);
}

}  // namespace DEVICE::tensor_cores
