// each warp has 256 neighbours, in eight rounds of 32
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
#pragma unroll
  for (unsigned j = 0; j < 8; ++j) {
    const unsigned i = warp << 8 | j << 5 | lane;
    if (i >= n) break;
    out[i] = q[i] * k[i] + v[i];
  }
}

}  // namespace DEVICE::multiply_add_strided
