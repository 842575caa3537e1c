// thread t has the columns 8 t to 8 t + 7: lanes 32 bytes apart | over budget: bytes read an element
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

__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[kHeld], largest = 0.0f;
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x * kHeld + j;
    held[j] = c < columns ? x[first + c] : 0.0f;
    largest = larger(largest, fabsf(held[j]));
  }
  largest = block_largest(largest);
  const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x * kHeld + j;
    if (c < columns) q[first + c] = quantized(held[j], scale);
  }
}

}  // namespace DEVICE::quantize_one_read
