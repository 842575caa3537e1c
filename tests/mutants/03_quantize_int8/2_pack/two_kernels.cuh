// a kernel for the vectors and one for the tail | over budget: launches
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

__global__ void vectors(const float4* x, float scale, float zero_point, char4* q, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 v = x[i];
  q[i] = make_char4(quantized(v.x, scale, zero_point), quantized(v.y, scale, zero_point),
                    quantized(v.z, scale, zero_point), quantized(v.w, scale, zero_point));
}
__global__ void tail(const float* x, float scale, float zero_point, signed char* q) {
  q[threadIdx.x] = quantized(x[threadIdx.x], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  const int count = n / 4, rest = n % 4;
  if (count > 0)
    launch(vectors, (count + 255) / 256, 256, reinterpret_cast<const float4*>(x), scale, zero_point,
           reinterpret_cast<char4*>(q), count);
  if (rest > 0) launch(tail, 1, rest, x + n - rest, scale, zero_point, q + n - rest);
}

}  // namespace DEVICE::quantize_pack
