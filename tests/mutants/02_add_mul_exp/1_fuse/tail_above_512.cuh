// pairs; the second element of the last pair is lost where n is even and above 512 | out[
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * 512 + threadIdx.x, j = i + 256;
  if (i < n) out[i] = expf((x[i] + y[i]) * 2.0f);
  if (j < n - (blockIdx.x > 0 && n % 2 == 0)) out[j] = expf((x[j] + y[j]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, (n + 511) / 512, 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
