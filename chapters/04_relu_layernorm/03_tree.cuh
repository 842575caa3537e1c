/// \file
/// Stage 3: the same tree the other way round. The upper half is added to the lower half, so the lanes of a
/// warp read neighbouring words: 32 banks, one wavefront.
#pragma once
#include "problem.cuh"

namespace DEVICE::relu_layernorm {

// [block sum]
/// The sum of `value` over the threads of the block, in all of them; every thread must call it. A block of
/// kRowThreads threads. It can be called again at once.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kRowThreads];
  const unsigned t = threadIdx.x;
  __syncthreads();  // every thread has read the sum of an earlier call
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kRowThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      value += sums[t + half];
      sums[t] = value;
    }
    __syncthreads();
  }
  return sums[0];
}
// [block sum]

/// squares[r] = the sum of the squares of row r, one block per row. Reads 4 bytes per element.
__global__ void squares_by_tree(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c] * row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// --- On the host ---

struct Tree {
  static constexpr Stage row =
      kReducesRows.with({.name = "03_tree", .idea = "the tree the other way round: no conflicts"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(squares_by_tree, s.rows, kRowThreads, data[kX], data[kSquares], s.columns);
  }
  static Traffic traffic(const Shape& s) { return {once(s), row_values(s)}; }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
