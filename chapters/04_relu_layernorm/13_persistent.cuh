/// \file
/// Stage 13: a persistent kernel: each block takes row after row. It keeps weight and bias in registers, and
/// loads its next row before it reduces the one it has, to save a block's start-up and the wait for its first
/// bytes. On an H200 it is slower than stage 10 all the same: the lesson says why.
#pragma once
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

/// Vectors of a row that a thread has: 32 bytes.
template <class Vector>
constexpr int kShare = 32 / sizeof(Vector);

/// y = the normalised row of relu(x): block b takes row b and every gridDim.x-th after it. `Vector` as in
/// one_read(); columns <= 8 * blockDim.x; dynamic shared memory: 64 bytes per thread, two buffers of one row
/// each. Traffic: reads 4 bytes and writes 4 bytes per element, and reads weight and bias once per block.
template <class Vector>
__global__ void __launch_bounds__(1024)
    persistent_rows(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ y, int rows, int columns,
                    float epsilon) {
  const int threads = blockDim.x, t = threadIdx.x, vectors = columns / kWidth<Vector>;
  Vector* buffers = dynamic_shared<Vector>();
  // [load]
  const auto slot = [&](int buffer, int j) { return buffers + (buffer * kShare<Vector> + j) * threads + t; };
  const auto load = [&](int row, int buffer) {
    const Vector* from = reinterpret_cast<const Vector*>(x + static_cast<size_t>(row) * columns);
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      const int i = t + j * threads;
      if (row < rows && i < vectors) __pipeline_memcpy_async(slot(buffer, j), &from[i], sizeof(Vector));
    }
    __pipeline_commit();
  };
  load(blockIdx.x, 0);
  // [load]

  Vector weights[kShare<Vector>], biases[kShare<Vector>];
#pragma unroll
  for (int j = 0; j < kShare<Vector>; ++j) {
    const int i = t + j * threads;
    weights[j] = i < vectors ? reinterpret_cast<const Vector*>(weight)[i] : Vector{};
    biases[j] = i < vectors ? reinterpret_cast<const Vector*>(bias)[i] : Vector{};
  }

  const auto normalise_row = [&](int row, int buffer) {
    Vector held[kShare<Vector>];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      held[j] = t + j * threads < vectors ? relu(*slot(buffer, j)) : Vector{};
      sum += sum_of(held[j]);
    }
    const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      held[j] = subtract(held[j], mean);
      squares += t + j * threads < vectors ? sum_of<Square>(held[j]) : 0.0f;
    }
    const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);
    Vector* out = reinterpret_cast<Vector*>(y + static_cast<size_t>(row) * columns);
#pragma unroll
    for (int j = 0; j < kShare<Vector>; ++j) {
      const int i = t + j * threads;
      if (i < vectors) out[i] = affine(held[j], inverse, weights[j], biases[j]);
    }
  };

  // [turn]
  int buffer = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x, buffer ^= 1) {
    load(row + gridDim.x, buffer ^ 1);
    __pipeline_wait_prior(1);
    normalise_row(row, buffer);
  }
  // [turn]
}

// --- On the host ---

inline int persistent_blocks(const Shape& s) {
  constexpr int kPerMultiprocessor = 8;  // a row of 1024 columns has 128 threads
  const int most = kPerMultiprocessor * multiprocessors();
  return s.dims[0] < most ? s.dims[0] : most;
}

struct Persistent {
  static constexpr Stage row =
      kNormalises.with({.name = "13_persistent",
                        .idea = "persistent blocks: weight and bias in registers, the next row in flight",
                        .needs = "rows of at most 8192 columns"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    const int threads = row_threads(s.columns, 8, 1024);
    launch_shared(aligned_rows(data, data[kY]) ? persistent_rows<float4> : persistent_rows<float>,
                  persistent_blocks(data.shape), threads, static_cast<size_t>(64 * threads), data[kX],
                  data[kWeight], data[kBias], data[kY], s.rows, s.columns, kEpsilon);
  }
  static Traffic traffic(const Shape& s) {
    return with_parameters(s, once(s, width(s)), once(s, width(s)), persistent_blocks(s));
  }
  static bool suits(const Shape& s) { return s.dims[1] <= 1024 * 8; }
};

}  // namespace DEVICE::relu_layernorm
