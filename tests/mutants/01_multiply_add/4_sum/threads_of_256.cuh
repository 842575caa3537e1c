// the array and the tree of a block of 256 threads, whatever the block | out of bounds
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

constexpr int kThreads = 256;

__device__ inline float block_sum(float value) {
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half && t + half < blockDim.x) sums[t] += sums[t + half];
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
