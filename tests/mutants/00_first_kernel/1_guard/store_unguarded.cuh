// the load is guarded, the store is not | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = i < n ? x[i] : 0.0f;
  out[i] = 2 * value;
}

}  // namespace DEVICE::first_kernel_guard
