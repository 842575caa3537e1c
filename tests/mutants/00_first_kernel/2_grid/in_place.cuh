// the input is doubled, not copied | out[
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(float* x, float* out, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= 2.0f;
}

}  // namespace DEVICE::first_kernel_grid
