// float4 where all rows start at multiples of 16 bytes, else element by element
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__device__ inline bool is_aligned(const void* p) { return reinterpret_cast<size_t>(p) % sizeof(float4) == 0; }

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (column >= n) return;
  const float* a = x + row * k;
  const float* b = w + static_cast<size_t>(column) * k;
  float sum = 0.0f;
  int done = 0;
  if (k % 4 == 0 && is_aligned(a) && is_aligned(b)) {
    done = k / 128 * 128;
    for (int i = 4 * lane; i < done; i += 128)
      sum += dot(*reinterpret_cast<const float4*>(a + i), *reinterpret_cast<const float4*>(b + i));
  }
  for (int i = done + lane; i < k; i += 32) sum = fmaf(a[i], b[i], sum);
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(kAllLanes, sum, offset);
  if (lane == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
