/// \file
/// Stage 4: the lanes of a warp read each other's registers by shuffles. Only the sums of the warps go
/// through shared memory, and two of ten barriers remain. Later stages and chapters have these sums from
/// common/kernels/sums.hpp, where they are warp_sum() and block_sum_by_warps().
#pragma once
#include "problem.cuh"

namespace DEVICE::relu_layernorm {

// [sums]
/// The sum of `value` over the 32 lanes of the warp, in every lane.
__device__ inline float sum_of_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/// The sum of `value` over a block of whole warps, in every thread; all of them must call it. Each warp adds
/// up its own values, then every warp adds up the sums of all warps. It can be called again at once.
__device__ inline float sum_of_block(float value) {
  __shared__ float sums[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = sum_of_warp(value);
  if (blockDim.x == 32) return value;
  __syncthreads();  // every thread has read the sums of an earlier call
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  return sum_of_warp(lane < blockDim.x / 32 ? sums[lane] : 0.0f);
}
// [sums]

/// squares[r] = the sum of the squares of row r, one block per row. Reads 4 bytes per element.
__global__ void squares_by_shuffles(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c] * row[c];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// --- On the host ---

struct Shuffles {
  static constexpr Stage row =
      kReducesRows.with({.name = "04_shuffles", .idea = "warps add up without shared memory"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(squares_by_shuffles, s.rows, kRowThreads, data[kX], data[kSquares], s.columns);
  }
  static Traffic traffic(const Shape& s) { return {once(s), row_values(s)}; }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
