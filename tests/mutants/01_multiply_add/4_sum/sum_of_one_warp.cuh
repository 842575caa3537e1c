// the sums of the other warps are not added | total[0] is 
#pragma once
#include "sums.hpp"
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

__global__ void sum_blocks(const float* x, float* out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
