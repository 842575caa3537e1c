// cast to int and to a byte: 400 wraps | q[
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_fuse {

__global__ void fused(const float* x, float scale, float zero_point, signed char* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float step = rintf(x[i] / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  q[i] = static_cast<signed char>(__float2int_rn(number) & 255);
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, int n) {
  launch(fused, (n + 255) / 256, 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_fuse
