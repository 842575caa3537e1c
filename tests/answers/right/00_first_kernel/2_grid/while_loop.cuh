// a while loop, indices of size_t
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* __restrict__ x, float* __restrict__ out, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  while (i < n) {
    out[i] = 2.0f * x[i];
    i += size_t(gridDim.x) * blockDim.x;
  }
}

}  // namespace DEVICE::first_kernel_grid
