// each thread has neighbouring columns, so its warp touches a sector per lane | over budget: bytes read
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* x, float* most, float* sum, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  const int each = (columns - 1) / static_cast<int>(blockDim.x) + 1, begin = threadIdx.x * each;
  float m = -3e38f, s = 0.0f;
  for (int j = begin; j < begin + each && j < columns; ++j) {
    const float score = row[j], larger = fmaxf(m, score);
    s = s * expf(m - larger) + expf(score - larger);
    m = larger;
  }
  const float all = block_max_by_warps(m);
  s = block_sum_by_warps(s * expf(m - all));
  if (threadIdx.x == 0) most[blockIdx.x] = all, sum[blockIdx.x] = s;
}

}  // namespace DEVICE::attention_online
