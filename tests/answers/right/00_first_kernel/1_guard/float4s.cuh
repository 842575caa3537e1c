// the threads of the first quarter do four elements each, the last ones one by one
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_guard {

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned vectors = n / 4, tail = n % 4;
  if (i < vectors) {
    float4 four = reinterpret_cast<const float4*>(x)[i];
    four.x *= 2;
    four.y *= 2;
    four.z *= 2;
    four.w *= 2;
    reinterpret_cast<float4*>(out)[i] = four;
  }
  if (i < tail) out[4 * vectors + i] = 2 * x[4 * vectors + i];
}

}  // namespace DEVICE::first_kernel_guard
