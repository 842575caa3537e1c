// fused, but the intermediate is stored as well | over budget: bytes written an element
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* between, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  between[i] = (x[i] + y[i]) * 2.0f;
  out[i] = expf(between[i]);
}

inline void add_mul_exp(const float* x, const float* y, float* between, float* out, int n) {
  launch(fused, (n + 255) / 256, 256, x, y, between, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
