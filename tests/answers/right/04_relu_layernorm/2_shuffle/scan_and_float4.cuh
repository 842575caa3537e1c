// float4 where rows are aligned, an inclusive scan by shuffles upwards, and the last lane has the sum
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

__device__ inline float square(float v) { return v * v; }
__device__ inline float square(float4 v) { return square(v.x) + square(v.y) + square(v.z) + square(v.w); }

/// In lane 31 the sum of all lanes.
__device__ inline float scan(float value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned d = 1; d < 32; d *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, value, d);
    if (lane >= d) value += below;
  }
  return value;
}

template <class Vector>
__device__ float sum_of_row(const float* row, int elements) {
  const Vector* vectors = reinterpret_cast<const Vector*>(row);
  const int count = elements / static_cast<int>(sizeof(Vector) / sizeof(float));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += square(vectors[i]);
  return sum;
}

__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  __shared__ float warps[32];
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  const unsigned t = threadIdx.x, count = blockDim.x / 32;
  float sum = columns % 4 == 0 ? sum_of_row<float4>(row, columns) : sum_of_row<float>(row, columns);
  sum = scan(sum);
  if (t % 32 == 31) warps[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = scan(t < count ? warps[t] : 0.0f);
  if (t == 31) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
