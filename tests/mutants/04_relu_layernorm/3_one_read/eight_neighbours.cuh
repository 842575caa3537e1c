// eight neighbouring columns per thread, so the loads are not coalesced | over budget: bytes read
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_one_read {

__global__ void normalise(const float* __restrict__ x, float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const int begin = 8 * threadIdx.x;
  float held[8], sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    held[j] = begin + j < columns ? fmaxf(x[first + begin + j], 0.0f) : 0.0f;
    sum += held[j];
  }
  const float mean = block_sum_by_warps(sum) / columns;
#pragma unroll
  for (int j = 0; j < 8; ++j)
    if (begin + j < columns) squares += (held[j] - mean) * (held[j] - mean);
  const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + epsilon);
#pragma unroll
  for (int j = 0; j < 8; ++j)
    if (begin + j < columns) y[first + begin + j] = (held[j] - mean) * inverse;
}

}  // namespace DEVICE::layernorm_one_read
