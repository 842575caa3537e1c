// the block takes a tile of the row at a time, and all threads share one maximum, as in stage 6
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  constexpr int kEach = 4;
  x += static_cast<size_t>(blockIdx.x) * columns;
  float largest = -INFINITY, total = 0.0f;
  for (int first = 0; first < columns; first += kEach * blockDim.x) {
    float scores[kEach], of_tile = -INFINITY;
    for (int k = 0; k < kEach; ++k) {
      const int j = first + k * blockDim.x + threadIdx.x;
      scores[k] = j < columns ? x[j] : -INFINITY;
      of_tile = fmaxf(of_tile, scores[k]);
    }
    const float next = fmaxf(largest, block_max_by_warps(of_tile));
    if (next == -INFINITY) continue;
    total *= expf(largest - next);
    largest = next;
    for (int k = 0; k < kEach; ++k) total += expf(scores[k] - largest);
  }
  total = block_sum_by_warps(total);
  if (threadIdx.x == 0) {
    most[blockIdx.x] = largest;
    sum[blockIdx.x] = total;
  }
}

}  // namespace DEVICE::attention_online
