// a grid-stride loop, which does as many rounds as the grid needs
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* q, const float* k, const float* v, float* out, size_t n) {
  const size_t step = size_t{blockDim.x} * gridDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = fmaf(q[i], k[i], v[i]);
}

}  // namespace DEVICE::multiply_add_strided
