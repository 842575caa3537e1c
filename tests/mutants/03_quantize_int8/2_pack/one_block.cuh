// one block does everything | over budget: percent of all loads and stores in one block
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
  for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<char4*>(q)[i] =
        make_char4(quantized(v.x, scale, zero_point), quantized(v.y, scale, zero_point),
                   quantized(v.z, scale, zero_point), quantized(v.w, scale, zero_point));
  }
  const int single = n / 4 * 4 + blockIdx.x * blockDim.x + threadIdx.x;
  if (single < n) q[single] = quantized(x[single], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(packed, 1, 1024, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
