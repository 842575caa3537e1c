// from one array to another and back, the sum in a register; names of the specification's
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

constexpr int kBlocks = 1024;

__device__ float run(float fill) {
  __shared__ float kArrays[2][kBlocks];
  const int rows = threadIdx.x;
  int from = 0;
  kArrays[from][rows] = fill;
  __syncthreads();
  for (int elements = blockDim.x; elements > 1; elements = (elements + 1) / 2) {
    const int half = (elements + 1) / 2;
    if (rows < half) {
      if (rows + half < elements) fill += kArrays[from][rows + half];
      kArrays[1 - from][rows] = fill;
    }
    from = 1 - from;
    __syncthreads();
  }
  return fill;
}

__global__ void sum_blocks(const float* x, float* out, int n) {
  const int blocks = gridDim.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blocks * blockDim.x) sum += x[i];
  const float total = run(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}

}  // namespace DEVICE::multiply_add_sum
