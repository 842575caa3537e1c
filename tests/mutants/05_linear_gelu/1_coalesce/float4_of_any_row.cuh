// float4 although rows may start anywhere | misaligned
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  const size_t row = blockIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n) return;
  const float *x_row = x + row * k, *w_row = w + static_cast<size_t>(column) * k;
  float sum = 0.0f;
  for (int i = 4 * threadIdx.x; i + 3 < k; i += 128) {
    const float4 a = *reinterpret_cast<const float4*>(x_row + i);
    const float4 b = *reinterpret_cast<const float4*>(w_row + i);
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  for (int i = k / 4 * 4 + threadIdx.x; i < k; i += 32) sum += x_row[i] * w_row[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (threadIdx.x == 0) product[row * n + column] = sum;
}

}  // namespace DEVICE::linear_coalesce
