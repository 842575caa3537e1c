// an odd number is halved and rounded up, and the middle value counts twice | total[0] is 
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ float block_sum(float value) {
  __shared__ float sums[1025];
  sums[threadIdx.x] = value;
  if (threadIdx.x == 0) sums[blockDim.x] = 0.0f;
  __syncthreads();
  for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const unsigned half = (left + 1) / 2;
    const float other = threadIdx.x < half ? sums[threadIdx.x + half] : 0.0f;
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += other;
    __syncthreads();
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
