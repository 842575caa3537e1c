// loads are side by side, stores are eight apart | over budget: bytes written
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  __shared__ float tile[2048];
  const unsigned begin = blockIdx.x * 2048, t = threadIdx.x;
  for (unsigned i = t; i < 2048 && begin + i < n; i += 256)
    tile[i] = q[begin + i] * k[begin + i] + v[begin + i];
  __syncthreads();
  for (unsigned i = 8 * t; i < 8 * t + 8 && begin + i < n; ++i) out[begin + i] = tile[i];
}

}  // namespace DEVICE::multiply_add_strided
