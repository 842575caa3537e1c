// the threads to spare all do the last element once more | same value stored by several threads
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
  out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_guard
