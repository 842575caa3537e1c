// one warp of a large grid does everything | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 32) return;
  for (int j = i; j < n; j += 32) out[j] = expf((x[j] + y[j]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, (n + 255) / 256, 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
