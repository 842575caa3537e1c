// a lambda, two chains of additions, and __shfl_sync to hand the sum to all lanes
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

constexpr int kWarp = 32, rows = 32;

__global__ void row_squares(const float* x, float* squares, int columns) {
  const auto add = [](unsigned mask, float value) {
#pragma unroll
    for (int offset = kWarp / 2; offset; offset >>= 1) value += __shfl_xor_sync(mask, value, offset);
    return __shfl_sync(mask, value, 0);
  };
  __shared__ float kOutputs[rows];
  const int t = threadIdx.x;
  float sums[2] = {0.0f, 0.0f};  // two chains of additions
  const size_t begin = size_t(columns) * blockIdx.x;
  int c = t;
  for (; c + int(blockDim.x) < columns; c += 2 * blockDim.x) {
    const float a = x[begin + c], b = x[begin + c + blockDim.x];
    sums[0] += a * a;
    sums[1] += b * b;
  }
  if (c < columns) sums[0] += x[begin + c] * x[begin + c];
  const float warp = add(0xffffffffu, sums[0] + sums[1]);
  if (t < kWarp) kOutputs[t] = 0.0f;
  __syncthreads();
  if (t % kWarp == 0) kOutputs[t / kWarp] = warp;
  __syncthreads();
  if (t < kWarp) {
    const float all = add(0xffffffffu, kOutputs[t]);
    if (t == 0) squares[blockIdx.x] = all;
  }
}

}  // namespace DEVICE::layernorm_shuffle
