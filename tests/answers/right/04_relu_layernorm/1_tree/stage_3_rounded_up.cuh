// stage 3 of the chapter, with the first half rounded up to a power of two
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

__device__ inline float block_sum(float value) {
  __shared__ float sums[1024];
  const unsigned t = threadIdx.x;
  __syncthreads();  // every thread has read the sum of an earlier call
  sums[t] = value;
  __syncthreads();
  unsigned half = 1;
  while (2 * half < blockDim.x) half *= 2;
  for (; half > 0; half /= 2) {
    if (t < half && t + half < blockDim.x) {
      value += sums[t + half];
      sums[t] = value;
    }
    __syncthreads();
  }
  return sums[0];
}

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f, square = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += row[c];
    square += row[c] * row[c];
  }
  sum = block_sum(sum);
  square = block_sum(square);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    squares[blockIdx.x] = square;
  }
}

}  // namespace DEVICE::layernorm_tree
