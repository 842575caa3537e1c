/// \file
/// Stage 4: the lanes of a warp read each other's registers by shuffles. Only the sums of the warps go
/// through shared memory, and two of ten barriers remain. The sums are in common/kernels/sums.hpp.
#pragma once
#include "problem.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// squares[r] = the sum of the squares of row r, one block per row. Reads 4 bytes per element.
__global__ void squares_by_shuffles(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += row[c] * row[c];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// --- On the host ---

struct Shuffles {
  static void run(const Data& data) {
    const Arrays a = arrays(data);
    launch(squares_by_shuffles, a.rows, kRowThreads, a.x, a.squares, a.columns);
  }
  static Traffic traffic(const Shape& s) { return {once(s), row_values(s)}; }
  static bool suits(const Shape& s) { return suits_block_per_row(s); }
};

}  // namespace DEVICE::relu_layernorm
