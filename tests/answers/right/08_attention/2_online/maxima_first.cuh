// online in each thread; then the block's maximum, and each thread rescales its sum once
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* __restrict__ x, float* __restrict__ most,
                                float* __restrict__ sum, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float own = -INFINITY, own_sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    const float score = row[j];
    if (score == -INFINITY) continue;
    const float larger = fmaxf(own, score);
    own_sum = own_sum * __expf(own - larger) + __expf(score - larger);
    own = larger;
  }
  const float all = block_max_by_warps(own);
  const float all_sum = block_sum_by_warps(own_sum * __expf(own - all));
  if (threadIdx.x != 0) return;
  most[blockIdx.x] = all;
  sum[blockIdx.x] = all_sum;
}

}  // namespace DEVICE::attention_online
