// the first block does all rows | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_one_read {

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  if (blockIdx.x > 0) return;
  for (unsigned r = 0; r < gridDim.x; ++r) {
    const size_t first = static_cast<size_t>(r) * columns;
    float held[8], sum = 0.0f, squares = 0.0f;
    for (int j = 0; j < 8; ++j) {
      const int c = threadIdx.x + 256 * j;
      held[j] = c < columns ? fmaxf(x[first + c], 0.0f) : 0.0f;
      sum += held[j];
    }
    const float mean = block_sum_by_warps(sum) / columns;
    for (int j = 0; j < 8; ++j)
      if (static_cast<int>(threadIdx.x) + 256 * j < columns) squares += (held[j] - mean) * (held[j] - mean);
    const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + epsilon);
    for (int j = 0; j < 8; ++j) {
      const int c = threadIdx.x + 256 * j;
      if (c < columns) y[first + c] = (held[j] - mean) * inverse;
    }
  }
}

}  // namespace DEVICE::layernorm_one_read
