// two bytes at a time: half the requests, not a quarter | over budget: store requests
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

__global__ void pairs(const float* x, float scale, float zero_point, signed char* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    const float2 v = reinterpret_cast<const float2*>(x)[i];
    reinterpret_cast<char2*>(q)[i] =
        make_char2(quantized(v.x, scale, zero_point), quantized(v.y, scale, zero_point));
  }
  if (i == 0 && n % 2 == 1) q[n - 1] = quantized(x[n - 1], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(pairs, (n + 511) / 512, 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
