// each warp takes 32 elements at a time, names of the specification's
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

constexpr unsigned kArrays = 32;

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned lane = threadIdx.x % kArrays, warps = blockDim.x / kArrays;
  const unsigned rows = (n + kArrays - 1) / kArrays, blocks = gridDim.x;
  for (unsigned row = blockIdx.x * warps + threadIdx.x / kArrays; row < rows; row += blocks * warps) {
    const unsigned element = row * kArrays + lane;
    if (element < n) out[element] = 2.0f * x[element];
  }
}

}  // namespace DEVICE::first_kernel_grid
