// the first scores of a thread stay in registers, the others are read again
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

constexpr int kHeld = 4;

__global__ void softmax(const float* __restrict__ x, float* __restrict__ p, int columns) {
  const int t = threadIdx.x, width = blockDim.x;
  x += static_cast<size_t>(blockIdx.x) * columns;
  p += static_cast<size_t>(blockIdx.x) * columns;
  float held[kHeld], most = -INFINITY;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    held[k] = t + k * width < columns ? x[t + k * width] : -INFINITY;
    most = fmaxf(most, held[k]);
  }
  for (int j = t + kHeld * width; j < columns; j += width) most = fmaxf(most, x[j]);
  most = block_max_by_warps(most);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) sum += held[k] = expf(held[k] - most);
  for (int j = t + kHeld * width; j < columns; j += width) sum += expf(x[j] - most);
  sum = block_sum_by_warps(sum);
#pragma unroll
  for (int k = 0; k < kHeld; ++k)
    if (t + k * width < columns) p[t + k * width] = held[k] / sum;
  for (int j = t + kHeld * width; j < columns; j += width) p[j] = expf(x[j] - most) / sum;
}

}  // namespace DEVICE::attention_softmax
