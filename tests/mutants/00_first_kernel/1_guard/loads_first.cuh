// every thread loads, the guard is on the store alone | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = x[i];
  if (i < n) out[i] = 2.0f * v;
}

}  // namespace DEVICE::first_kernel_guard
