// the next element is loaded before it is known whether there is one | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  for (; i < n; i += threads) {
    const float next = x[i + threads];
    out[i] = 2.0f * value;
    value = next;
  }
}

}  // namespace DEVICE::first_kernel_grid
