// each warp takes 256 columns side by side, 32 at a time
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
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[kHeld], largest = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = warp * 256 + j * 32 + lane;
    held[j] = c < columns ? x[first + c] : 0.0f;
    largest = larger(largest, fabsf(held[j]));
  }
  largest = block_largest(largest);
  float scale = 1.0f;
  if (largest > 0.0f) scale = largest / 127.0f;
  if (warp == 0 && lane == 0) scales[blockIdx.x] = scale;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = warp * 256 + j * 32 + lane;
    if (c >= columns) break;
    q[first + c] = quantized(held[j], scale);
  }
}

}  // namespace DEVICE::quantize_one_read
