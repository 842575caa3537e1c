// each warp adds its sum to the block's by an atomic addition | over budget: atomics
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

}  // namespace DEVICE::multiply_add_sum
