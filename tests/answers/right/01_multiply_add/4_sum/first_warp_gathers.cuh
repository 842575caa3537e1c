// the first warp adds up the other warps' values, then a tree within the warp
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  __shared__ float values[1024];
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  values[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;

  for (unsigned other = threadIdx.x + 32; other < blockDim.x; other += 32) sum += values[other];
  values[threadIdx.x] = sum;
  __syncwarp();
  for (unsigned half = 16; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncwarp();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

}  // namespace DEVICE::multiply_add_sum
