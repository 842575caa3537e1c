// other names, a lambda that loads a pair, blocks of 96 threads, loads before the guard's end
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void product_plus(const float* x, const float* y, float* z, unsigned count) {
  const auto pair = [x](unsigned at) { return reinterpret_cast<const float2*>(x)[at]; };
  const unsigned me = blockDim.x * blockIdx.x + threadIdx.x;
  if (me >= count) return;
  const float2 two = pair(me);
  const float sum = y[me];
  z[me] = fmaf(two.x, two.y, sum);
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  const unsigned count = n;
  launch(product_plus, (count + 95) / 96, 96, pairs, v, out, count);
}

}  // namespace DEVICE::multiply_add_pairs
