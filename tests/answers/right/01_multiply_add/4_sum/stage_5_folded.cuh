// the tree of stage 5, after the threads beyond a power of two have added their values
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ inline float block_sum(float value) {
  __shared__ float sums[1024];
  const unsigned t = threadIdx.x;
  unsigned power = 32;
  while (2 * power <= blockDim.x) power *= 2;
  sums[t] = value;
  __syncthreads();
  if (t + power < blockDim.x) sums[t] += sums[t + power];
  __syncthreads();
  for (unsigned half = power / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return t == 0 ? sums[0] : 0.0f;
}

__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
