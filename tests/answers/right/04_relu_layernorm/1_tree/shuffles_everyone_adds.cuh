// shuffles in each warp, and then every thread adds up the warps' sums
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

__device__ inline float block_sum(float value) {
  __shared__ float warps[32];
  for (int d = 16; d > 0; d >>= 1) value += __shfl_xor_sync(0xffffffff, value, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += warps[w];
  return sum;
}

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         int columns) {
  float sum = 0, square = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float v = x[(size_t)blockIdx.x * columns + c];
    sum += v;
    square += v * v;
  }
  sum = block_sum(sum);
  square = block_sum(square);
  if (threadIdx.x) return;
  sums[blockIdx.x] = sum;
  squares[blockIdx.x] = square;
}

}  // namespace DEVICE::layernorm_tree
