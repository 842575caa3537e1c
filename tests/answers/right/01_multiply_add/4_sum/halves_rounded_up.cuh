// the values that are left are halved, and an odd one waits
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ float block_sum(float value) {
  __shared__ float sums[1024];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned left = blockDim.x; left > 1;) {
    const unsigned half = (left + 1) / 2;
    if (threadIdx.x + half < left) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
    left = half;
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
