// one read of the row, kept in shared memory, which has no room for a long one | out of bounds
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_online {

__global__ void largest_and_sum(const float* x, float* most, float* sum, int columns) {
  __shared__ float row[2048];
  float m = -INFINITY, s = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x)
    m = fmaxf(m, row[j] = x[static_cast<size_t>(blockIdx.x) * columns + j]);
  m = block_max_by_warps(m);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) s += expf(row[j] - m);
  s = block_sum_by_warps(s);
  if (threadIdx.x == 0) most[blockIdx.x] = m, sum[blockIdx.x] = s;
}

}  // namespace DEVICE::attention_online
