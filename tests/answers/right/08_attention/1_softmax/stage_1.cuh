// stage 1 of the chapter
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* scores, float* p, int keys) {
  const float* row = scores + static_cast<size_t>(blockIdx.x) * keys;
  float* out = p + static_cast<size_t>(blockIdx.x) * keys;
  float most = -INFINITY;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) most = fmaxf(most, row[j]);
  most = block_max_by_warps(most);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) sum += expf(row[j] - most);
  sum = block_sum_by_warps(sum);
  for (int j = threadIdx.x; j < keys; j += blockDim.x) out[j] = expf(row[j] - most) / sum;
}

}  // namespace DEVICE::attention_softmax
