// the members of a float4 are read from memory four times | over budget: load requests
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

__global__ void packed(const float* x, float scale, float zero_point, signed char* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    const volatile float* v = x + 4 * i;
    reinterpret_cast<char4*>(q)[i] =
        make_char4(quantized(v[0], scale, zero_point), quantized(v[1], scale, zero_point),
                   quantized(v[2], scale, zero_point), quantized(v[3], scale, zero_point));
  }
  const int single = n / 4 * 4 + blockIdx.x * blockDim.x + threadIdx.x;
  if (single < n) q[single] = quantized(x[single], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(packed, (n + 1023) / 1024, 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
