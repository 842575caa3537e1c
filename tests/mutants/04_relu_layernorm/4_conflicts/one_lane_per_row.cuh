// no tile: each lane reads a row of its own, so the loads are not coalesced | over budget: bytes read
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (threadIdx.y > 0 || r >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[static_cast<size_t>(r) * columns + c];
  sums[r] = sum;
}

}  // namespace DEVICE::layernorm_conflicts
