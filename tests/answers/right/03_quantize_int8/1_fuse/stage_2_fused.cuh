// the lesson's stage 2
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"

namespace DEVICE::quantize_fuse {

__device__ inline float quantized(float x, float scale, float zero_point) {
  const float rounded = rintf(x / scale + zero_point);
  const float number = rounded == rounded ? rounded : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return not_less < 127.0f ? not_less : 127.0f;
}

__device__ inline signed char to_int8(float step) { return static_cast<signed char>(step); }

__global__ void fused(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) q[i] = to_int8(quantized(x[i], scale, zero_point));
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, int n) {
  launch(fused, ceil_div(n, 256), 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_fuse
