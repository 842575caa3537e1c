// 32 threads add up every 32nd value, thread 0 the 32 sums
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ float block_sum(float value) {
  __shared__ float all[1024], some[32];
  all[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    float sum = 0;
    for (unsigned i = threadIdx.x; i < blockDim.x; i += 32) sum += all[i];
    some[threadIdx.x] = sum;
  }
  __syncthreads();
  float total = 0;
  if (threadIdx.x == 0)
    for (float one : some) total += one;
  return total;
}

__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
