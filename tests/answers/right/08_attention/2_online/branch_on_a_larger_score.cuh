// a branch where the maximum grows; begins with the lowest finite number, so nothing needs a guard
#pragma once
#include "device.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float m = -3.402823466e38f, s = 0.0f;
  const auto absorb = [&](float score, float count) {
    if (score > m) {
      s = s * expf(m - score) + count;
      m = score;
    } else {
      s += count * expf(score - m);
    }
  };
  for (int j = threadIdx.x; j < columns; j += blockDim.x) absorb(row[j], 1.0f);
  for (int distance = 1; distance < 32; distance *= 2) {
    const float other_m = __shfl_down_sync(0xffffffffu, m, distance);
    const float other_s = __shfl_down_sync(0xffffffffu, s, distance);
    if (threadIdx.x % 32 + distance < 32) absorb(other_m, other_s);
  }
  __shared__ float maxima[32], sums[32];
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = m;
    sums[threadIdx.x / 32] = s;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned w = 1; w < blockDim.x / 32; ++w) absorb(maxima[w], sums[w]);
  most[blockIdx.x] = m;
  sum[blockIdx.x] = s;
}

}  // namespace DEVICE::attention_online
