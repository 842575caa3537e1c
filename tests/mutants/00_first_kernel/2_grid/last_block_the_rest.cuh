// one element per thread, and the last block does all the others | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
  if (blockIdx.x == gridDim.x - 1)
    for (i += blockDim.x; i < n; i += blockDim.x) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_grid
