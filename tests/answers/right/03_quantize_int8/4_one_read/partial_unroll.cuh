// a loop that ends with the row; a count of what is held; helpers named like the specification's
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

__device__ inline float elements(float most) { return most > 0.0f ? most / 127.0f : 1.0f; }

__global__ void quantize_rows(const float* __restrict__ x, float* __restrict__ scales,
                              signed char* __restrict__ q, int columns) {
  float rows[8];
  int count = 0;
  float one_read = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 256, ++count) {
    rows[count] = x[blockIdx.x * size_t(columns) + c];
    one_read = fmaxf(one_read, fabsf(rows[count]));
  }
  const float tie = elements(block_largest(one_read));
  if (threadIdx.x == 0) scales[blockIdx.x] = tie;
  for (int j = 0; j < count; ++j)
    q[blockIdx.x * size_t(columns) + threadIdx.x + 256 * j] = quantized(rows[j], tie);
}

}  // namespace DEVICE::quantize_one_read
