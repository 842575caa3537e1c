// the threads add their rescaled sums to one word | over budget: atomics
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* x, float* most, float* sum, int columns) {
  __shared__ float of_block;
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float m = -3e38f, s = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    const float score = row[j], larger = fmaxf(m, score);
    s = s * expf(m - larger) + expf(score - larger);
    m = larger;
  }
  if (threadIdx.x == 0) of_block = 0.0f;
  __syncthreads();
  const float all = block_max_by_warps(m);
  atomicAdd(&of_block, s * expf(m - all));
  __syncthreads();
  if (threadIdx.x == 0) most[blockIdx.x] = all, sum[blockIdx.x] = of_block;
}

}  // namespace DEVICE::attention_online
