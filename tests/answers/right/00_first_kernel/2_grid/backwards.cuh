// from the end of the array to its beginning
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  const int step = gridDim.x * blockDim.x;
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  for (int begin = (static_cast<int>(n) - 1) / step * step; begin >= 0; begin -= step)
    if (const int i = begin + mine; i < static_cast<int>(n)) out[i] = ldexpf(x[i], 1);
}

}  // namespace DEVICE::first_kernel_grid
