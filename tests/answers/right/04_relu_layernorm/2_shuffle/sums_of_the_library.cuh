// the sums of common/kernels
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_shuffle {

__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float v = x[static_cast<size_t>(blockIdx.x) * columns + c];
    sum = fmaf(v, v, sum);
  }
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
