// the lesson's stage 4: bytes exchanged through shared memory
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

constexpr unsigned kWideThreads = 256;

__global__ void wide(const float* __restrict__ x, float scale, float zero_point, signed char* __restrict__ q,
                     int n) {
  __shared__ uint4 bytes[kWideThreads];
  const Split at = split<16>(n, x, q);
  const unsigned lane = threadIdx.x % 32;
  const unsigned first = blockIdx.x * kWideThreads + threadIdx.x - lane;  // of the warp's vectors of sixteen
  if (first + 32 <= at.vectors) {
    const float4* x4 = reinterpret_cast<const float4*>(x + at.head) + 4 * first;
    char4* exchanged = reinterpret_cast<char4*>(&bytes[threadIdx.x - lane]);
    float4 loaded[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) loaded[j] = x4[lane + 32 * j];
#pragma unroll
    for (int j = 0; j < 4; ++j) exchanged[lane + 32 * j] = quantized4(loaded[j], scale, zero_point);
    __syncwarp();
    reinterpret_cast<uint4*>(q + at.head)[first + lane] = bytes[threadIdx.x];
  }

  // The elements before the vectors, and those after the last full warp.
  const unsigned whole = at.vectors / 32 * 32 * 16;
  const Split rest = {at.n, whole > 0 ? whole : 1, at.head, whole > 0 ? 1u : 0u};
  quantize_singles(rest, x, scale, zero_point, q);
}

inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  launch(wide, ceil_div(n, 16 * static_cast<int>(kWideThreads)), kWideThreads, x, scale, zero_point, q, n);
}

}  // namespace DEVICE::quantize_pack
