/// \file
/// Stage 11: a warp a row, for rows so short that a block would have no work for its threads. No barrier, no
/// shared memory; the warps of a block have nothing to do with each other.
#pragma once
#include "10_one_read.cuh"

namespace DEVICE::relu_layernorm {

/// y = the normalised row of relu(x), one warp per row, columns <= 512. `Vector` as in stage 10. Traffic:
/// that of stage 10.
template <class Vector>
__global__ void warp_a_row(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                           float epsilon) {
  const int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const size_t first = static_cast<size_t>(r) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = columns / static_cast<int>(sizeof(Vector) / sizeof(float));

  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + 32 * j;
    held[j] = i < vectors ? row[i] : Vector{};
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  const float mean = warp_sum(sum) / static_cast<float>(columns);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = less(held[j], mean);
    squares += lane + 32 * j < vectors ? squares_of(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(warp_sum(squares) / static_cast<float>(columns) + epsilon);

  const Vector* weights = reinterpret_cast<const Vector*>(weight);
  const Vector* biases = reinterpret_cast<const Vector*>(bias);
  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + 32 * j;
    if (i < vectors) out[i] = affine(held[j], inverse, weights[i], biases[i]);
  }
}

}  // namespace DEVICE::relu_layernorm
