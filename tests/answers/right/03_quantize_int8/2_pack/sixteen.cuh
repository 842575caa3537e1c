// sixteen elements per thread: four float4 loads a warp apart, four char4 stores; the tail by single elements
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

template <int kVectors>
__global__ void tiles(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                      int n) {
  const int vectors = n / 4;
  const float4* in = reinterpret_cast<const float4*>(x);
  char4* out = reinterpret_cast<char4*>(q);
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int first = warp * 32 * kVectors + lane;
  float4 held[kVectors];
#pragma unroll
  for (int j = 0; j < kVectors; ++j)
    if (first + 32 * j < vectors) held[j] = in[first + 32 * j];
#pragma unroll
  for (int j = 0; j < kVectors; ++j) {
    const auto f = [&](float v) { return quantized(v, scale, zero_point); };
    if (first + 32 * j < vectors)
      out[first + 32 * j] = make_char4(f(held[j].x), f(held[j].y), f(held[j].z), f(held[j].w));
  }
  const int rest = 4 * vectors + blockIdx.x * blockDim.x + threadIdx.x;
  if (rest < n) q[rest] = quantized(x[rest], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(tiles<4>, (n + 4095) / 4096, 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
