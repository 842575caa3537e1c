// one warp has the row, and the other warps end at once
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_then_relu {

__device__ inline float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}

__global__ void layernorm_relu(const float* x, const float* weight, const float* bias, float* y, int columns,
                               float epsilon) {
  if (threadIdx.x >= 32) return;
  const float* row = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  const int lane = threadIdx.x;
  float sum = 0;
  for (int c = lane; c < columns; c += 32) sum += row[c];
  const float mean = warp_sum(sum) / columns;
  float squares = 0;
  for (int c = lane; c < columns; c += 32) squares += (row[c] - mean) * (row[c] - mean);
  const float scale = 1.0f / sqrtf(warp_sum(squares) / columns + epsilon);
  for (int c = lane; c < columns; c += 32) {
    const float v = fmaf((row[c] - mean) * scale, weight[c], bias[c]);
    out[c] = v > 0 ? v : 0;
  }
}

}  // namespace DEVICE::layernorm_then_relu
