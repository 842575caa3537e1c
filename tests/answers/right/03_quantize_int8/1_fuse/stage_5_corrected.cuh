// the lesson's stage 5: reciprocal and correction
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"
#include "vectors.hpp"

namespace DEVICE::quantize_fuse {

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

struct Steps {
  float scale, zero_point, reciprocal;
  float limit;
};

__host__ __device__ inline Steps steps_of(float scale, float zero_point) {
  const bool usual = fabsf(scale) > 0x1p-60f && fabsf(scale) < 0x1p60f;
  return {scale, zero_point, 1.0f / scale, usual ? 0x1p60f : 0.0f};
}

__device__ inline float divided(float x, const Steps& by) {
  const float nearly = x * by.reciprocal;
  const float remainder = __fmaf_rn(-by.scale, nearly, x);
  return __fmaf_rn(remainder, by.reciprocal, nearly);
}

__device__ inline signed char nearest_step(float value) {
  const int nearest = __float2int_rn(value);
  const int not_less = nearest > -128 ? nearest : -128;
  return static_cast<signed char>(not_less < 127 ? not_less : 127);
}

__device__ inline signed char in_steps(float x, const Steps& by) {
  return nearest_step((fabsf(x) < by.limit ? divided(x, by) : x / by.scale) + by.zero_point);
}

__device__ inline char4 in_steps(float4 x, const Steps& by) {
  const float shift = by.zero_point;
  const bool usual =
      (fabsf(x.x) < by.limit) & (fabsf(x.y) < by.limit) & (fabsf(x.z) < by.limit) & (fabsf(x.w) < by.limit);
  if (usual)
    return make_char4(nearest_step(divided(x.x, by) + shift), nearest_step(divided(x.y, by) + shift),
                      nearest_step(divided(x.z, by) + shift), nearest_step(divided(x.w, by) + shift));
  return make_char4(nearest_step(x.x / by.scale + shift), nearest_step(x.y / by.scale + shift),
                    nearest_step(x.z / by.scale + shift), nearest_step(x.w / by.scale + shift));
}

constexpr int kCorrectedThreads = 256;

__global__ void corrected(const float* __restrict__ x, Steps by, signed char* __restrict__ q, int n) {
  const Split at = split<4>(n, x, q);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  char4* q4 = reinterpret_cast<char4*>(q + at.head);
  const unsigned i = 2 * blockIdx.x * kCorrectedThreads + threadIdx.x, j = i + kCorrectedThreads;
  if (j < at.vectors) {
    const float4 one = x4[i], other = x4[j];
    q4[i] = in_steps(one, by);
    q4[j] = in_steps(other, by);
  } else if (i < at.vectors) {
    q4[i] = in_steps(x4[i], by);
  }
  quantize_singles(at, x, by.scale, by.zero_point, q);
}

inline void quantize(const float* x, float scale, float zero_point, float*, signed char* q, int n) {
  launch(corrected, ceil_div(n, 8 * kCorrectedThreads), kCorrectedThreads, x, steps_of(scale, zero_point), q,
         n);
}

}  // namespace DEVICE::quantize_fuse
