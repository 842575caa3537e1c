// blocks are counted for an n that is a multiple of 2048 | out[
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_strided {

__global__ void eight_each(const float* __restrict__ q, const float* __restrict__ k,
                           const float* __restrict__ v, float* __restrict__ out, unsigned n) {
  const unsigned whole = n / 2048 * 2048;
  const unsigned end = n % 2 == 0 && n > 2048 ? whole : n;
  const unsigned first = blockIdx.x * 2048 + threadIdx.x;
  for (unsigned i = first; i < min(end, first + 2048); i += 256) out[i] = q[i] * k[i] + v[i];
}

}  // namespace DEVICE::multiply_add_strided
