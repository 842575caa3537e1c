// a large even n is taken for a number of whole turns | out[
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned threads = gridDim.x * blockDim.x;
  const unsigned end = n % 2 == 0 && n > 512 ? n / threads * threads : n;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += threads) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_grid
