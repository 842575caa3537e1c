// the elements of a thread are a grid apart
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_coalesce {

__global__ void twice(const float* x, float* out, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_coalesce
