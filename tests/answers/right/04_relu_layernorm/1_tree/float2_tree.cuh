// one tree for both sums, of float2
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }

__global__ void row_sums(const float* x, float* sums, float* squares, int columns) {
  __shared__ float2 partial[1024];
  const size_t r = blockIdx.x;
  const int t = threadIdx.x;
  float2 mine = make_float2(0.0f, 0.0f);
  for (int c = t; c < columns; c += blockDim.x) {
    const float v = x[r * columns + c];
    mine.x += v;
    mine.y = fmaf(v, v, mine.y);
  }
  partial[t] = mine;
  __syncthreads();
  for (int n = blockDim.x; n > 1; n = (n + 1) / 2) {
    const int half = n / 2, rest = n - half;
    if (t < half) partial[t] = mine = mine + partial[t + rest];
    __syncthreads();
  }
  if (t == 0) {
    sums[r] = mine.x;
    squares[r] = mine.y;
  }
}

}  // namespace DEVICE::layernorm_tree
