// block 0 adds up everything, the others nothing | over budget: percent of all loads and stores in one block
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  float sum = 0.0f;
  if (blockIdx.x == 0)
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
