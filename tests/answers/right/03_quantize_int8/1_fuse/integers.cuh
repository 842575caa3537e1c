// __float2int_rn, which saturates and takes NaN to 0, and a clamp of integers
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

__global__ void quantize_kernel(const float* __restrict__ x, float scale, float zero_point,
                                signed char* __restrict__ q, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int step = __float2int_rn(__fadd_rn(__fdiv_rn(x[i], scale), zero_point));
  q[i] = static_cast<signed char>(max(-128, min(127, step)));
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, unsigned n) {
  launch(quantize_kernel, (n + 1023) / 1024, 1024, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_fuse
