// the last six steps are within a warp and have no barrier | race in shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ float block_sum(float value) {
  __shared__ volatile float sums[1024];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = 512; half > 32; half /= 2) {
    if (t < half && t + half < blockDim.x) sums[t] = sums[t] + sums[t + half];
    __syncthreads();
  }
  if (t < 32) {
    if (blockDim.x > 32) sums[t] = sums[t] + sums[t + 32];
    for (unsigned half = 16; half > 0; half /= 2)
      if (t < half) sums[t] = sums[t] + sums[t + half];
  }
  return sums[0];
}

__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
