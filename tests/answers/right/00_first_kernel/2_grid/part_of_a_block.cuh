// each block has one part of the array, whole rounds of its threads
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned rounds = (n + blockDim.x - 1) / blockDim.x;
  const unsigned rounds_per_block = (rounds + gridDim.x - 1) / gridDim.x;
  const unsigned begin = blockIdx.x * rounds_per_block * blockDim.x;
  const unsigned end = min(n, begin + rounds_per_block * blockDim.x);
  for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_grid
