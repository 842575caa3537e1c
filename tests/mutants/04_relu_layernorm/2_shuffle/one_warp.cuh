// one warp of the grid does all rows | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

__global__ void row_squares(const float* x, float* squares, int columns) {
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  for (unsigned r = 0; r < gridDim.x; ++r) {
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 32) {
      const float value = x[static_cast<size_t>(r) * columns + c];
      sum += value * value;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) squares[r] = sum;
  }
}

}  // namespace DEVICE::layernorm_shuffle
