// the lanes exchange in a loop that some of them leave earlier | mask
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += 32) {
    float step = x[row * k + i] * w[static_cast<size_t>(column) * k + i];
    for (int distance = 16; distance > 0; distance /= 2)
      step += __shfl_xor_sync(0xffffffffu, step, distance);
    sum += step;
  }
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
