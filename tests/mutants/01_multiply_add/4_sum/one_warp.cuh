// one warp of the grid adds up everything | over budget: percent of all loads and stores in one block
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  float sum = 0.0f;
  if (threadIdx.x < 32 && blockIdx.x == 0)
    for (unsigned i = threadIdx.x; i < n; i += 32) sum += x[i];
  if (threadIdx.x < 32) sum = warp_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
