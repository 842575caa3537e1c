// the first warp of the grid does all of it | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < 32)
    for (unsigned i = thread; i < n; i += 32) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_guard
