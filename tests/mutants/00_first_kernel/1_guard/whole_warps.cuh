// threads are counted in warps, so a block that has threads to spare runs whole warps | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned warps = (n + 31) / 32;
  if (i / 32 < warps) out[i] = 2.0f * x[i];
}

}  // namespace DEVICE::first_kernel_guard
