// subtracts the logarithm of the sum, and divides nothing
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::attention_softmax {

__global__ void softmax(const float* __restrict__ x, float* __restrict__ p, int columns) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns, end = first + columns;
  float most = -3.402823466e38f;
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) most = x[i] > most ? x[i] : most;
  most = block_max_by_warps(most);
  float sum = 0.0f;
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) sum += expf(x[i] - most);
  const float log_sum = most + logf(block_sum_by_warps(sum));
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) p[i] = expf(x[i] - log_sum);
}

}  // namespace DEVICE::attention_softmax
