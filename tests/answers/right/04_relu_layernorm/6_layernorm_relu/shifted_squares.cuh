// one pass for both sums: distances from the row's first number, and their squares
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_then_relu {

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  const float origin = row[0];
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float distance = row[c] - origin;
    sum += distance;
    squares += distance * distance;
  }
  const float shift = block_sum_by_warps(sum) / columns;
  const float variance = block_sum_by_warps(squares) / columns - shift * shift;
  const float inverse = rsqrtf(variance + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float result = (row[c] - origin - shift) * inverse * weight[c] + bias[c];
    y[static_cast<size_t>(blockIdx.x) * columns + c] = result > 0.0f ? result : 0.0f;
  }
}

}  // namespace DEVICE::layernorm_then_relu
