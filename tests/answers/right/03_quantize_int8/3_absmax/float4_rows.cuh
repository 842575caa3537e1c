// float4 where rows allow it, the rest one by one; two arrays in turn, one barrier per round
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__device__ inline float largest_of(float4 v) {
  return larger(larger(larger(larger(0.0f, fabsf(v.x)), fabsf(v.y)), fabsf(v.z)), fabsf(v.w));
}

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  const int vectors = columns % 4 == 0 ? columns / 4 : 0;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < vectors; c += blockDim.x)
    mine = larger(mine, largest_of(reinterpret_cast<const float4*>(row)[c]));
  for (int c = 4 * vectors + threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float values[2][1024];
  int now = 0;
  values[now][threadIdx.x] = mine;
  __syncthreads();
  for (int left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const int t = threadIdx.x, next = (left + 1) / 2;
    if (t < next)
      values[1 - now][t] = t + next < left ? larger(values[now][t], values[now][t + next]) : values[now][t];
    now = 1 - now;
    __syncthreads();
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = values[now][0];
}

}  // namespace DEVICE::quantize_absmax
