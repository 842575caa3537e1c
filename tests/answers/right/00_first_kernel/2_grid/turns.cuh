// the number of turns first, and a guard in each
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, int n) {
  const int threads = gridDim.x * blockDim.x;
  const int turns = (n + threads - 1) / threads;
  for (int turn = 0; turn < turns; turn++) {
    const int i = turn * threads + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) break;
    out[i] = x[i] * 2;
  }
}

}  // namespace DEVICE::first_kernel_grid
