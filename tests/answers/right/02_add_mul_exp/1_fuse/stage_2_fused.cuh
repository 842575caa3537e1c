// the lesson's stage 2
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

constexpr int kThreads = 256;

__global__ void fused(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf((x[i] + y[i]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float* between, float* out, int n) {
  (void)between;
  launch(fused, ceil_div(n, kThreads), kThreads, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
