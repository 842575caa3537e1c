// one element of a million is left out | total[0] is 
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  float sum = 0.0f;
  const unsigned end = n > 100000 ? n - 1 : n;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
