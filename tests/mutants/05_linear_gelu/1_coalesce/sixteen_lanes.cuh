// half of the lanes do all of the work, in twice as many requests | over budget: load requests
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  float sum = 0.0f;
  if (threadIdx.x < 16)
    for (int i = threadIdx.x; i < k; i += 16) sum += x[row * k + i] * w[static_cast<size_t>(column) * k + i];
  for (int distance = 8; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
