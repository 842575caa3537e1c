// each thread has neighbouring columns, so its warp touches a sector per lane | over budget: bytes read
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* x, float* p, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const int each = (columns - 1) / static_cast<int>(blockDim.x) + 1;
  const int begin = threadIdx.x * each, end = begin + each < columns ? begin + each : columns;
  float most = -INFINITY, sum = 0.0f;
  for (int j = begin; j < end; ++j) most = fmaxf(most, x[first + j]);
  most = block_max_by_warps(most);
  for (int j = begin; j < end; ++j) sum += expf(x[first + j] - most);
  sum = block_sum_by_warps(sum);
  for (int j = begin; j < end; ++j) p[first + j] = expf(x[first + j] - most) / sum;
}

}  // namespace DEVICE::attention_softmax
