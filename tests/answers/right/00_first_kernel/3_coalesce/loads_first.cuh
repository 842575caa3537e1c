// all four are loaded before the first is stored
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

constexpr int kPerThread = 4;

__global__ void twice(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int first = blockIdx.x * blockDim.x * kPerThread + threadIdx.x;
  float values[kPerThread] = {};
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (const int i = first + k * blockDim.x; i < n) values[k] = x[i];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (const int i = first + k * blockDim.x; i < n) out[i] = values[k] + values[k];
}

}  // namespace DEVICE::first_kernel_coalesce
