// the first warp of the grid does all of it | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

__global__ void twice(const float* x, float* out, unsigned n) {
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  for (unsigned i = threadIdx.x; i < n; i += 32) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_coalesce
