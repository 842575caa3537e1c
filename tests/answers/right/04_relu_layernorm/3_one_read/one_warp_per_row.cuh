// one warp has the row, 64 columns in each lane; the other warps have nothing to do
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_one_read {

__device__ inline float lanes_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  if (threadIdx.x >= 32) return;
  constexpr int kHeld = 64;
  const int lane = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[kHeld];
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = lane + 32 * j;
    const float value = c < columns ? x[first + c] : 0.0f;
    held[j] = value > 0.0f ? value : 0.0f;
    sum += held[j];
  }
  const float mean = lanes_sum(sum) / columns;
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld; ++j)
    if (lane + 32 * j < columns) squares += (held[j] - mean) * (held[j] - mean);
  const float inverse = rsqrtf(lanes_sum(squares) / columns + epsilon);
#pragma unroll
  for (int j = 0; j < kHeld; ++j)
    if (lane + 32 * j < columns) y[first + lane + 32 * j] = (held[j] - mean) * inverse;
}

}  // namespace DEVICE::layernorm_one_read
