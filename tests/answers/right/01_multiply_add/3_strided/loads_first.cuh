// all loads before the first store, in arrays of registers
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

constexpr int kPerThread = 8;

__global__ void eight_each(const float* q, const float* k, const float* v, float* out, int n) {
  float a[kPerThread], b[kPerThread], c[kPerThread];
  const int first = blockIdx.x * kPerThread * blockDim.x + threadIdx.x;
  if (first + (kPerThread - 1) * static_cast<int>(blockDim.x) < n) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      a[j] = q[first + j * blockDim.x];
      b[j] = k[first + j * blockDim.x];
      c[j] = v[first + j * blockDim.x];
    }
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) out[first + j * blockDim.x] = a[j] * b[j] + c[j];
  } else {
    for (int i = first; i < n; i += blockDim.x) out[i] = q[i] * k[i] + v[i];
  }
}

}  // namespace DEVICE::multiply_add_strided
