// every thread loads and doubles through pointers that do not alias, only the store is guarded | out of bounds: kernel twice
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float doubled = x[i] * 2;
  if (i >= n) return;
  out[i] = doubled;
}

}  // namespace DEVICE::first_kernel_guard
