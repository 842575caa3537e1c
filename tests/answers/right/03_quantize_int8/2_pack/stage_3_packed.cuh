// the lesson's stage 3
#pragma once
#include "ceil_div.hpp"
#include "vectors.hpp"
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline float quantized(float x, float scale, float zero_point) {
  const float rounded = rintf(x / scale + zero_point);
  const float number = rounded == rounded ? rounded : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return not_less < 127.0f ? not_less : 127.0f;
}

__device__ inline signed char to_int8(float step) { return static_cast<signed char>(step); }

__device__ inline char4 quantized4(float4 x, float scale, float zero_point) {
  return make_char4(to_int8(quantized(x.x, scale, zero_point)), to_int8(quantized(x.y, scale, zero_point)),
                    to_int8(quantized(x.z, scale, zero_point)), to_int8(quantized(x.w, scale, zero_point)));
}

__device__ inline void quantize_singles(const Split& at, const float* x, float scale, float zero_point,
                                        signed char* q) {
  for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    q[i] = to_int8(quantized(x[i], scale, zero_point));
  }
}

__global__ void packed(const float* __restrict__ x, float scale, float zero_point,
                       signed char* __restrict__ q, int n) {
  const Split at = split<4>(n, x, q);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < at.vectors) {
    const float4 four = reinterpret_cast<const float4*>(x + at.head)[i];
    reinterpret_cast<char4*>(q + at.head)[i] = quantized4(four, scale, zero_point);
  }
  quantize_singles(at, x, scale, zero_point, q);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(packed, ceil_div(n, 4 * 256), 256, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
