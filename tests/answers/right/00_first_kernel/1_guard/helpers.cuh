// helpers whose names the specification might have too
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

constexpr int kLimits = 2, kShapes = 1;

__device__ unsigned elements(unsigned blocks, unsigned threads) { return blocks * threads + threadIdx.x; }
__device__ float run(float fill) { return kLimits * kShapes * fill; }

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned answer = elements(blockIdx.x, blockDim.x);
  if (answer < n) out[answer] = run(x[answer]);
}

}  // namespace DEVICE::first_kernel_guard
