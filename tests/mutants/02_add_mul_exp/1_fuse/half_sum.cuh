// the sum is rounded to half | out[
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = expf(__half2float(__float2half(x[i] + y[i])) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, (n + 255) / 256, 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
