/// \file
/// Exercise 03.2, pack: store four bytes at a time.
///
/// The kernel is right, but each thread has one element and stores a single byte. Let each thread take four
/// elements: load a float4, store a char4. n need not be a multiple of 4; x and q begin at multiples of 16
/// bytes.
///
/// Goal: one launch; a quarter of the requests; 4 bytes read and 1 byte written per element; the work spread
/// over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_pack {

__device__ inline signed char quantized(float x, float scale, float zero_point) {
  const float step = rintf(x / scale + zero_point);
  const float number = step == step ? step : 0.0f;
  const float not_less = number > -128.0f ? number : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

// BEGIN SOLUTION
__global__ void packed(const float* __restrict__ x, float scale, float zero_point,
                       signed char* __restrict__ q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int vectors = n / 4;
  if (i < vectors) {
    const float4 four = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<char4*>(q)[i] =
        make_char4(quantized(four.x, scale, zero_point), quantized(four.y, scale, zero_point),
                   quantized(four.z, scale, zero_point), quantized(four.w, scale, zero_point));
  }
  const int single = 4 * vectors + i;
  if (single < n) q[single] = quantized(x[single], scale, zero_point);
}

/// q = x in steps of `scale`, for n elements in device memory.
inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
  constexpr int kThreads = 256;
  launch(packed, (n - 1) / (4 * kThreads) + 1, kThreads, x, scale, zero_point, q, n);
}
// SKELETON
// __global__ void one_by_one(const float* __restrict__ x, float scale, float zero_point,
//                            signed char* __restrict__ q, int n) {
//   const int i = blockIdx.x * blockDim.x + threadIdx.x;
//   if (i < n) q[i] = quantized(x[i], scale, zero_point);
// }
//
// /// q = x in steps of `scale`, for n elements in device memory.
// /// TODO: four elements per thread.
// inline void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
//   constexpr int kThreads = 256;
//   launch(one_by_one, (n - 1) / kThreads + 1, kThreads, x, scale, zero_point, q, n);
// }
// END SOLUTION

}  // namespace DEVICE::quantize_pack
