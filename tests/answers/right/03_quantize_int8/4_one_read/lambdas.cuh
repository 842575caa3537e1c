// a lambda that visits the elements of a thread; size_t and unsigned
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_one_read {

constexpr int kThreads = 256;
constexpr int kMost = 2048;
constexpr int kHeld = kMost / kThreads;

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__device__ inline signed char quantized(float x, float scale) {
  const float step = rintf(x / scale);
  const float not_less = step > -128.0f ? step : -128.0f;
  return static_cast<signed char>(not_less < 127.0f ? not_less : 127.0f);
}

/// The largest of `value` over the block, in every thread; all of them must call it.
__device__ inline float block_largest(float value) {
  __shared__ float values[kThreads];
  const unsigned t = threadIdx.x;
  values[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) values[t] = larger(values[t], values[t + half]);
    __syncthreads();
  }
  return values[0];
}

template <class F>
__device__ inline void for_each(unsigned columns, F f) {
#pragma unroll
  for (int j = 0; j < kHeld; ++j)
    if (const unsigned c = threadIdx.x + j * 256u; c < columns) f(j, c);
}

__global__ void __launch_bounds__(256)
    quantize_rows(const float* x, float* scales, signed char* q, unsigned columns) {
  const size_t row = blockIdx.x;
  float held[kHeld] = {};
  for_each(columns, [&](int j, unsigned c) { held[j] = x[row * columns + c]; });
  float most = 0.0f;
#pragma unroll
  for (float value : held) most = larger(most, value < 0.0f ? -value : value);
  most = block_largest(most);
  const float scale = most == 0.0f ? 1.0f : most / 127.0f;
  for_each(columns, [&](int j, unsigned c) { q[row * columns + c] = quantized(held[j], scale); });
  if (threadIdx.x == 255) scales[row] = scale;
}

}  // namespace DEVICE::quantize_one_read
