// the first warp of the grid does all of it | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  if (blockIdx.x * blockDim.x + threadIdx.x < 32)
    for (unsigned i = threadIdx.x; i < n; i += 32) out[i] = q[i] * k[i] + v[i];
}

}  // namespace DEVICE::multiply_add_strided
