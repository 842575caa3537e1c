// one block does everything | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = expf((x[i] + y[i]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, 1, 1024, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
