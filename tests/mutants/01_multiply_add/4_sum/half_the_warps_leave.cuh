// threads without an element leave before the barrier | warp operation that a lane does not reach
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  if (first >= n) return;
  float sum = 0.0f;
  for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
