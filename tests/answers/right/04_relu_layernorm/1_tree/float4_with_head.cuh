// float4 between a head and a tail of single elements; a barrier at the end of block_sum
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

__device__ inline float block_sum(float value) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (int n = blockDim.x; n > 1;) {
    const int half = (n + 1) / 2;
    if (t < n - half) sums[t] += sums[t + half];
    __syncthreads();
    n = half;
  }
  const float result = sums[0];
  __syncthreads();
  return result;
}

__device__ inline void take(float v, float& sum, float& square) {
  sum += v;
  square += v * v;
}

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         int columns) {
  const float* row = x + (size_t)blockIdx.x * columns;
  const int t = threadIdx.x, threads = blockDim.x;
  int head = (16 - (int)(reinterpret_cast<size_t>(row) % 16)) % 16 / 4;
  if (head > columns) head = columns;
  const int vectors = (columns - head) / 4, tail = head + 4 * vectors;
  float sum = 0.0f, square = 0.0f;
  if (t < head) take(row[t], sum, square);
  const float4* body = reinterpret_cast<const float4*>(row + head);
  for (int i = t; i < vectors; i += threads) {
    const float4 v = body[i];
    take(v.x, sum, square);
    take(v.y, sum, square);
    take(v.z, sum, square);
    take(v.w, sum, square);
  }
  if (t < columns - tail) take(row[tail + t], sum, square);
  sum = block_sum(sum);
  square = block_sum(square);
  if (t == 0) {
    sums[blockIdx.x] = sum;
    squares[blockIdx.x] = square;
  }
}

}  // namespace DEVICE::layernorm_tree
