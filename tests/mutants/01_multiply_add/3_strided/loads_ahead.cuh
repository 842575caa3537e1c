// the next element is loaded before the guard says whether there is one | out of bounds: kernel eight_each
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned first = blockIdx.x * 2048 + threadIdx.x;
  for (unsigned j = 0; j < 8; ++j) {
    const unsigned i = first + j * blockDim.x;
    const float a = q[i], b = k[i], c = v[i];
    if (i < n) out[i] = a * b + c;
  }
}

}  // namespace DEVICE::multiply_add_strided
