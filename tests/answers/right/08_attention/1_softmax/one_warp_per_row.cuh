// the first warp has the row, and needs no barrier; two passes, of which the first rescales its sum
#pragma once
#include "device.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* x, float* p, int columns) {
  if (threadIdx.x >= 32) return;
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float most = -1e30f, sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += 32) {
    const float score = x[first + j];
    if (score > most) {
      sum *= expf(most - score);
      most = score;
    }
    sum += expf(score - most);
  }
  float all = most;
  for (int d = 16; d > 0; d /= 2) all = fmaxf(all, __shfl_xor_sync(0xffffffffu, all, d));
  sum *= expf(most - all);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  for (int j = threadIdx.x; j < columns; j += 32) p[first + j] = expf(x[first + j] - all) / sum;
}

}  // namespace DEVICE::attention_softmax
