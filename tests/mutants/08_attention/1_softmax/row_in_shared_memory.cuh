// the row is kept in shared memory, which has no room for a long one | out of bounds
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* x, float* p, int columns) {
  __shared__ float row[4096];
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float most = -INFINITY, sum = 0.0f;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) most = fmaxf(most, row[j] = x[first + j]);
  most = block_max_by_warps(most);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += row[j] = expf(row[j] - most);
  sum = block_sum_by_warps(sum);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) p[first + j] = row[j] / sum;
}

}  // namespace DEVICE::attention_softmax
