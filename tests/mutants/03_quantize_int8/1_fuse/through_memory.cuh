// the steps go through `between` in one kernel | over budget: bytes written an element
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

__global__ void fused(const float* x, float scale, float zero_point, float* between, signed char* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  between[i] = rintf(x[i] / scale + zero_point);
  q[i] =
      static_cast<signed char>(between[i] != between[i] ? 0.0f : fminf(fmaxf(between[i], -128.0f), 127.0f));
}

inline void quantize(const float* x, float scale, float zero_point, float* between, signed char* q, int n) {
  launch(fused, (n + 255) / 256, 256, x, scale, zero_point, between, q, n);
}

}  // namespace DEVICE::quantize_fuse
