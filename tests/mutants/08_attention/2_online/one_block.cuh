// one block of the grid does all rows | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* x, float* most, float* sum, int columns) {
  if (blockIdx.x > 0) return;
  for (unsigned r = 0; r < gridDim.x; ++r) {
    const float* row = x + static_cast<size_t>(r) * columns;
    float m = -3e38f, s = 0.0f;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
      const float score = row[j], larger = fmaxf(m, score);
      s = s * expf(m - larger) + expf(score - larger);
      m = larger;
    }
    const float all = block_max_by_warps(m);
    s = block_sum_by_warps(s * expf(m - all));
    if (threadIdx.x == 0) most[r] = all, sum[r] = s;
  }
}

}  // namespace DEVICE::attention_online
