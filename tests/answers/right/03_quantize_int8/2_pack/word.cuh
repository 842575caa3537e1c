// four bytes put together in an int by shifts; the thread after the last vector does the tail
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

__global__ void pack(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                     unsigned n) {
  const unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const float values[4] = {v.x, v.y, v.z, v.w};
    unsigned word = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      word |= static_cast<unsigned>(static_cast<unsigned char>(quantized(values[j], scale, zero_point)))
              << (8 * j);
    *reinterpret_cast<unsigned*>(q + i) = word;
    return;
  }
  for (unsigned j = i; j < n; ++j) q[j] = quantized(x[j], scale, zero_point);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, unsigned n) {
  launch(pack, (n + 1023) / 1024, 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
