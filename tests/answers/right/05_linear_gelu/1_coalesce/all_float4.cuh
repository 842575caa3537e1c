// every lane takes float4, the last lanes have none
#pragma once
#include "device.hpp"

namespace DEVICE::linear_coalesce {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int k, int n) {
  int row = blockIdx.x, col = blockIdx.y * 8 + threadIdx.y;
  if (col < n) {
    const float* xr = &x[(size_t)row * k];
    const float* wr = &w[(size_t)col * k];
    float acc = 0.f;
    if (k % 4 == 0) {
      const float4* x4 = (const float4*)xr;
      const float4* w4 = (const float4*)wr;
      for (int i = threadIdx.x; i < k / 4; i += 32) {
        float4 p = x4[i];
        float4 q = w4[i];
        acc += p.x * q.x;
        acc += p.y * q.y;
        acc += p.z * q.z;
        acc += p.w * q.w;
      }
    } else {
      for (int i = threadIdx.x; i < k; i += 32) acc += xr[i] * wr[i];
    }
    for (int mask = 1; mask < 32; mask <<= 1) acc += __shfl_xor_sync(~0u, acc, mask);
    if (threadIdx.x == 0) product[(size_t)row * n + col] = acc;
  }
}

}  // namespace DEVICE::linear_coalesce
