/// \file
/// Stage 13: blocks that stay and take row after row. Each keeps weight and bias in registers, and asks for
/// its next row before it reduces the one it has, to save what it takes to start a block and to wait for its
/// first bytes. On an H200 it loses to stage 10 all the same: the lesson says why.
#pragma once
#include "10_one_read.cuh"

namespace DEVICE::relu_layernorm {

/// Vectors of a row that a thread has: 32 bytes.
template <class Vector>
constexpr int kShare = 32 / sizeof(Vector);

/// y = the normalised row of relu(x): block b takes row b and every gridDim.x-th after it. `Vector` as in
/// stage 10; columns <= 8 * blockDim.x; dynamic shared memory: 64 bytes a thread, for two rows in turn.
/// Traffic: reads 4 bytes and writes 4 bytes per element, and asks for weight and bias once a block.
template <class Vector>
__global__ void __launch_bounds__(1024)
    persistent_rows(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                    float epsilon) {
  constexpr int kWidth = sizeof(Vector) / sizeof(float);
  const int threads = blockDim.x, t = threadIdx.x, vectors = columns / kWidth;
  Vector* next = dynamic_shared<Vector>();
  const auto slot = [&](int turn, int j) { return next + (turn * kShare<Vector> + j) * threads + t; };
  const auto ask_for = [&](int row, int turn) {
    const Vector* from = reinterpret_cast<const Vector*>(x + static_cast<size_t>(row) * columns);
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      const int i = t + j * threads;
      if (row < rows && i < vectors) __pipeline_memcpy_async(slot(turn, j), &from[i], sizeof(Vector));
    }
    __pipeline_commit();
  };
  ask_for(blockIdx.x, 0);

  Vector weights[kShare<Vector>], biases[kShare<Vector>];
#pragma unroll
  for (int j = 0; j < kShare<Vector>; ++j) {
    const int i = t + j * threads;
    weights[j] = i < vectors ? reinterpret_cast<const Vector*>(weight)[i] : Vector{};
    biases[j] = i < vectors ? reinterpret_cast<const Vector*>(bias)[i] : Vector{};
  }

  int turn = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    ask_for(row + gridDim.x, turn ^ 1);
    __pipeline_wait_prior(1);
    Vector held[kShare<Vector>];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      held[j] = t + j * threads < vectors ? relu(*slot(turn, j)) : Vector{};
      sum += sum_of(held[j]);
    }
    const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      held[j] = less(held[j], mean);
      squares += t + j * threads < vectors ? sum_of<Square>(held[j]) : 0.0f;
    }
    const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
    Vector* out = reinterpret_cast<Vector*>(y + static_cast<size_t>(row) * columns);
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      const int i = t + j * threads;
      if (i < vectors) out[i] = affine(held[j], inverse, weights[j], biases[j]);
    }
  }
}

}  // namespace DEVICE::relu_layernorm
