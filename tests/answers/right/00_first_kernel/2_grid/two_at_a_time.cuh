// two elements in each turn, both loaded before either is stored
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned total = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + total < n; i += 2 * total) {
    const float a = x[i], b = x[i + total];
    out[i] = 2.0f * a;
    out[i + total] = 2.0f * b;
  }
  if (i < n) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_grid
