// one pass over the registers: sums of the distances from the row's first number, and of their squares
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

constexpr int kThreads = 256, kMost = 2048, kHeld = kMost / kThreads;

__device__ inline float relu(float x) { return x < 0.0f ? 0.0f : x; }

__device__ inline float2 block_sum(float2 value) {
  __shared__ float2 sums[kThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      const float2 other = sums[t + half];
      value.x += other.x;
      value.y += other.y;
      sums[t] = value;
    }
    __syncthreads();
  }
  return sums[0];
}

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  __shared__ float origin;
  float held[kHeld];
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    held[j] = c < columns ? relu(x[first + c]) : 0.0f;
  }
  if (threadIdx.x == 0) origin = held[0];
  __syncthreads();
  float2 sums = make_float2(0.0f, 0.0f);
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    const float distance = c < columns ? held[j] - origin : 0.0f;
    sums.x += distance;
    sums.y += distance * distance;
  }
  sums = block_sum(sums);
  const float shift = sums.x / columns;
  const float inverse = rsqrtf(sums.y / columns - shift * shift + epsilon);
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = threadIdx.x + j * kThreads;
    if (c < columns) y[first + c] = (held[j] - origin - shift) * inverse;
  }
}

}  // namespace DEVICE::layernorm_one_read
