// stage 2 of the chapter
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

/// The sum of x[i] * w[i] over i < k, in every lane; the warp's lanes divide the terms among themselves.
__device__ inline float warp_dot(const float* __restrict__ x, const float* __restrict__ w, int k) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < k; i += 32) sum += x[i] * w[i];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  return sum;
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float sum = warp_dot(x + row * k, w + static_cast<size_t>(column) * k, k);
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
