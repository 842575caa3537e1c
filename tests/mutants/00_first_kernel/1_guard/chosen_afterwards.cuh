// the element is loaded before the condition chooses whether it is used | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = x[i];
  value = i < n ? 2.0f * value : 0.0f;
  if (i < n) out[i] = value;
}

}  // namespace DEVICE::first_kernel_guard
