// a grid-stride loop, signed indices
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, int n) {
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += stride) {
    out[i] = x[i] * 2;
  }
}

}  // namespace DEVICE::first_kernel_guard
