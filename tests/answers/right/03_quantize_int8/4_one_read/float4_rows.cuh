// two float4 per thread and char4 stores where rows allow it, else single elements
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_one_read {

constexpr int kThreads = 256;

__device__ inline signed char quantized(float x, float scale) {
  const int step = __float2int_rn(__fdiv_rn(x, scale));
  return static_cast<signed char>(max(-128, min(127, step)));
}
__device__ inline float largest_of(float v) { return fabsf(v); }
__device__ inline float largest_of(float4 v) {
  return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}
__device__ inline void store(signed char* q, int i, float v, float scale) { q[i] = quantized(v, scale); }
__device__ inline void store(signed char* q, int i, float4 v, float scale) {
  reinterpret_cast<char4*>(q)[i] = make_char4(quantized(v.x, scale), quantized(v.y, scale),
                                              quantized(v.z, scale), quantized(v.w, scale));
}

__device__ inline float warp_largest(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, mask));
  return v;
}

template <class Vector, int kHeld>
__device__ void one_row(const float* row, float* scale_out, signed char* q, int vectors) {
  __shared__ float found[kThreads / 32];
  const Vector* in = reinterpret_cast<const Vector*>(row);
  Vector held[kHeld];
  float most = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int i = threadIdx.x + j * kThreads;
    if (i < vectors) {
      held[j] = in[i];
      most = fmaxf(most, largest_of(held[j]));
    }
  }
  most = warp_largest(most);
  if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = most;
  __syncthreads();
  most = warp_largest(found[threadIdx.x % 8]);
  const float scale = most > 0.0f ? most / 127.0f : 1.0f;
  if (threadIdx.x == 0) *scale_out = scale;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int i = threadIdx.x + j * kThreads;
    if (i < vectors) store(q, i, held[j], scale);
  }
}

__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  if (columns % 4 == 0)
    one_row<float4, 2>(x + first, scales + blockIdx.x, q + first, columns / 4);
  else
    one_row<float, 8>(x + first, scales + blockIdx.x, q + first, columns);
}

}  // namespace DEVICE::quantize_one_read
