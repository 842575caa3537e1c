/// \file
/// Stage 2: one block per row. Each thread adds up the elements that it reads, then a tree in shared memory
/// adds up the threads. This tree adds neighbours first, so the words that the lanes of a warp read are soon
/// a multiple of 32 words apart: in the same bank.
#pragma once
#include "problem.cuh"

namespace DEVICE::relu_layernorm {
// [neighbours]
/// The sum of `value` over the threads of the block, in all of them; every thread must call it. It adds
/// neighbours first: the lanes that still add have a stride of 2, 4, 8 ... words, so up to 8 of them wait for
/// one bank.
__device__ inline float block_sum_of_neighbours(float value) {
  __shared__ float sums[kRowThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
#pragma unroll 1  // or the compiler merges the two loads of the first step
  for (unsigned apart = 1; apart < kRowThreads; apart *= 2) {
    const unsigned left = 2 * apart * t;
    if (left < kRowThreads) sums[left] += sums[left + apart];
    __syncthreads();
  }
  return sums[0];
}
// [neighbours]
/// squares[r] = the sum of the squares of row r, one block of kRowThreads threads per row. Reads 4 bytes per
/// element.
__global__ void squares_with_conflicts(const float* __restrict__ x, float* __restrict__ squares,
                                       int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c] * row[c];
  sum = block_sum_of_neighbours(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// --- On the host ---

struct Conflicts {
  static constexpr Stage row =
      kReducesRows.with({.name = "02_conflicts", .idea = "a tree in shared memory, lanes in the same bank"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch(squares_with_conflicts, s.rows, kRowThreads, data[kX], data[kSquares], s.columns);
  }
  static Traffic traffic(const Shape& s) { return {once(s), row_values(s)}; }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
