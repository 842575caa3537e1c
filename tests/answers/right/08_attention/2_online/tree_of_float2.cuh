// pairs as float2, and a tree in shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::attention_online {

__device__ inline float2 operator+(float2 a, float2 b) {
  if (a.x < b.x) {
    const float2 c = a;
    a = b;
    b = c;
  }
  return b.x == -INFINITY ? a : make_float2(a.x, a.y + b.y * expf(b.x - a.x));
}

__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  __shared__ float2 pairs[1024];
  const unsigned t = threadIdx.x;
  const float* const begin = x + static_cast<size_t>(blockIdx.x) * columns;
  float2 mine = make_float2(-INFINITY, 0.0f);
  for (const float* at = begin + t; at < begin + columns; at += blockDim.x)
    mine = mine + make_float2(*at, 1.0f);
  pairs[t] = mine;
  __syncthreads();
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;
    if (t + half < count) pairs[t] = pairs[t] + pairs[t + half];
    __syncthreads();
    count = half;
  }
  if (t == 0) {
    const float2 all = pairs[0];
    most[blockIdx.x] = all.x;
    sum[blockIdx.x] = all.y;
  }
}

}  // namespace DEVICE::attention_online
