// each thread has four neighbours: lanes 16 bytes apart | over budget: bytes read an element: the lanes use
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) out[i] = expf((x[i] + y[i]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, (n + 1023) / 1024, 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
