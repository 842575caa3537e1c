/// \file
/// Stage 11: short rows, for which a block would have no work for its threads: a warp a row, or of a warp as
/// many lanes as hold the row, so that every lane has as many loads on their way as in stage 10. No barrier,
/// no shared memory; the warps of a block have nothing to do with each other.
#pragma once
#include "10_one_read.cuh"

namespace DEVICE::relu_layernorm {

/// The sum of `value` over the lanes of the row, in each of them: `lanes` neighbours, a power of two.
__device__ inline float lanes_sum(float value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/// y = the normalised row of relu(x), `lanes` lanes per row: 8, 16 or 32 of them; columns <= 16 * lanes.
/// `Vector` as in one_read(). Traffic: reads 4 bytes and writes 4 bytes per element, and
/// asks for weight and bias once a warp.
template <class Vector>
__global__ void warp_a_row(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                           int lanes, float epsilon) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
  const size_t first = static_cast<size_t>(r) * columns;
  const Vector* row = reinterpret_cast<const Vector*>(x + first);
  const int vectors = r < rows ? columns / static_cast<int>(sizeof(Vector) / sizeof(float)) : 0;
  const Vector* weights_in = reinterpret_cast<const Vector*>(weight);
  const Vector* biases_in = reinterpret_cast<const Vector*>(bias);
  Vector held[kHeld<Vector>], weights[kHeld<Vector>], biases[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    held[j] = i < vectors ? row[i] : Vector{};
  }
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    weights[j] = i < vectors ? weights_in[i] : Vector{};
    biases[j] = i < vectors ? biases_in[i] : Vector{};
  }

  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  const float mean = lanes_sum(sum, lanes) / static_cast<float>(columns);
  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = less(held[j], mean);
    squares += lane + lanes * j < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
  const float inverse = rsqrtf(lanes_sum(squares, lanes) / static_cast<float>(columns) + epsilon);

  Vector* out = reinterpret_cast<Vector*>(y + first);
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = lane + lanes * j;
    if (i < vectors) out[i] = affine(held[j], inverse, weights[j], biases[j]);
  }
}

}  // namespace DEVICE::relu_layernorm
