/// \file
/// Stage 8: one kernel, a block a row, and three passes over it. What the second and third pass ask for the
/// first has just brought: the cache has it, as long as the rows in flight fit.
#pragma once
#include "7_unfused.cuh"

namespace DEVICE::relu_layernorm {

/// y = the normalised row of relu(x), one block per row. Traffic: asks for 12 bytes and writes 4 bytes per
/// element, and weight and bias once a row; from memory 4 where the row stays in the cache.
__global__ void three_passes(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ y, int columns,
                             float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) sum += relu(x[first + c]);
  const float mean = block_sum(sum) / static_cast<float>(columns);

  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kRowThreads) {
    const float distance = relu(x[first + c]) - mean;
    squares += distance * distance;
  }
  const float inverse = rsqrtf(block_sum(squares) / static_cast<float>(columns) + epsilon);

  for (int c = threadIdx.x; c < columns; c += kRowThreads)
    y[first + c] = (relu(x[first + c]) - mean) * inverse * weight[c] + bias[c];
}

}  // namespace DEVICE::relu_layernorm
