// the first warp adds up the others' values, then its own with shuffles
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

constexpr unsigned kAll = 0xffffffffu;

__device__ float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAll, value, offset);
  return value;
}

__device__ float block_sum(float value) {
  __shared__ float sums[1024];
  __shared__ float result;
  sums[threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    float mine = 0.0f;
    for (unsigned i = threadIdx.x; i < blockDim.x; i += 32) mine += sums[i];
    mine = warp_sum(mine);
    if (threadIdx.x == 0) result = mine;
  }
  __syncthreads();
  return result;
}

__global__ void row_sums(const float* x, float* sums, float* squares, size_t columns) {
  float sum = 0.0f, square = 0.0f;
  for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const float v = __ldg(&x[blockIdx.x * columns + c]);
    sum += v;
    square += v * v;
  }
  sum = block_sum(sum);
  __syncthreads();
  square = block_sum(square);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    squares[blockIdx.x] = square;
  }
}

}  // namespace DEVICE::layernorm_tree
