/// \file
/// Stage 2: one kernel for the whole expression. The product never leaves a register.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add {

/// out[i] = q[i] * k[i] + v[i], one thread per element.
/// Traffic: reads 12 bytes and writes 4 bytes per element, in one launch.
__global__ void fused(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                      float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = q[i] * k[i] + v[i];
}

}  // namespace DEVICE::multiply_add
