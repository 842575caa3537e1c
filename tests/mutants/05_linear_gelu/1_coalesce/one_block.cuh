// the first block does the work of all the others | percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  if (blockIdx.x > 0 || blockIdx.y > 0) return;
  for (int row = 0; row < gridDim.x; ++row)
    for (int column = threadIdx.y; column < n; column += 8) {
      float sum = 0.0f;
      for (int i = threadIdx.x; i < k; i += 32)
        sum += x[static_cast<size_t>(row) * k + i] * w[static_cast<size_t>(column) * k + i];
      for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      if (threadIdx.x == 0) product[static_cast<size_t>(row) * n + column] = sum;
    }
}

}  // namespace DEVICE::linear_coalesce
