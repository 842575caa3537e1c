// as at first, but loads and stores go through shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  __shared__ float tile[2048];
  const unsigned begin = blockIdx.x * 2048, t = threadIdx.x;
  const unsigned count = min(n - begin, 2048u);
  for (unsigned i = t; i < count; i += 256) tile[i] = q[begin + i] * k[begin + i];
  for (unsigned i = t; i < count; i += 256) tile[i] += v[begin + i];
  __syncthreads();
  for (unsigned i = t; i < count; i += 256) out[begin + i] = tile[i];
}

}  // namespace DEVICE::multiply_add_strided
