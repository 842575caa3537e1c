// the first warp adds the sums of eight warps, whatever the block | uninitialised shared memory
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__device__ float block_sum(float value) {
  __shared__ float sums[32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  return threadIdx.x < 32 ? warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f) : 0.0f;
}

__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
