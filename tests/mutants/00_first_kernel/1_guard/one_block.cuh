// block 0 does all of it | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  if (blockIdx.x > 0) return;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_guard
