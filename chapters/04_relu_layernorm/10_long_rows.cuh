/// \file
/// Stage 10 for rows that are too long for the registers of a block: the rest of the row is kept in shared
/// memory, so it is still read once. Such rows are so long that two blocks fill a multiprocessor, and what
/// counts is how many loads each has in flight: it loads weight and bias four vectors at a time.
#pragma once
#include "rows.cuh"
#include "sums.hpp"

namespace DEVICE::relu_layernorm {

// [kernel]
constexpr int kLongRowThreads = 512;

/// y = the normalised row of relu(x), one block of kLongRowThreads threads per row; `Vector` as in
/// one_read(). Thread t has the vectors t, t + blockDim.x and so on: the first kHeld in registers, the others
/// in dynamic shared memory, where no other thread reads them. Dynamic shared memory: 4 bytes for each column
/// after the first 16 * kLongRowThreads. Traffic: that of one_read().
template <class Vector>
__global__ void __launch_bounds__(kLongRowThreads, 2)
    long_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
              float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  const Vector *const row = reinterpret_cast<const Vector*>(x + first),
                      *const of_weight = reinterpret_cast<const Vector*>(weight),
                      *const of_bias = reinterpret_cast<const Vector*>(bias);
  Vector* const out = reinterpret_cast<Vector*>(y + first);
  const int vectors = columns / kWidth<Vector>;
  constexpr int kBatch = kHeld<Vector>, kHeldVectors = kHeld<Vector> * kLongRowThreads;
  const int t = threadIdx.x;
  Vector* staged = dynamic_shared<Vector>();  // staged[i] is row[kHeldVectors + i]
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    __pipeline_memcpy_async(&staged[i - kHeldVectors], &row[i], sizeof(Vector));
  __pipeline_commit();
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * kLongRowThreads;
    held[j] = i < vectors ? row[i] : Vector{};
  }

  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  __pipeline_wait_prior(0);
#pragma unroll 4
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    sum += sum_of(relu(staged[i - kHeldVectors]));
  const float mean = block_sum_by_warps(sum) / static_cast<float>(columns);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += t + j * kLongRowThreads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
#pragma unroll 4
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    squares += sum_of<Square>(subtract(relu(staged[i - kHeldVectors]), mean));
  const float inverse = rsqrtf(block_sum_by_warps(squares) / static_cast<float>(columns) + epsilon);

  const auto write = [&](int batch, auto centred) {
    Vector weights[kBatch], biases[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int i = batch + j * kLongRowThreads;
      weights[j] = i < vectors ? of_weight[i] : Vector{};
      biases[j] = i < vectors ? of_bias[i] : Vector{};
    }
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int i = batch + j * kLongRowThreads;
      if (i < vectors) out[i] = affine(centred(i, j), inverse, weights[j], biases[j]);
    }
  };
  write(t, [&](int, int j) { return held[j]; });
  for (int batch = kHeldVectors + t; batch < vectors; batch += kBatch * kLongRowThreads)
    write(batch, [&](int i, int) { return subtract(relu(staged[i - kHeldVectors]), mean); });
}
// [kernel]

// --- On the host ---

/// Bytes of dynamic shared memory of a block that has `columns` columns of a row.
inline int staged_bytes(int columns) {
  const int bytes = 4 * columns - kLongRowThreads * kHeldBytes;
  return bytes > 0 ? bytes : 0;
}

/// Whether one block can hold so much of a row. The kernels' own arrays in shared memory take up to 256
/// bytes.
inline bool fits_block(int columns) { return staged_bytes(columns) + 256 <= most_shared_bytes(); }

struct LongRows {
  static constexpr Stage row = kNormalises.with({.name = "10_long_rows",
                                                 .idea = "the row stays in registers and shared memory",
                                                 .needs = "longer rows that a block can keep"});
  static void run(const Data& data) {
    const Sizes s = sizes(data.shape);
    launch_shared(aligned_rows(data, data[kY]) ? long_rows<float4> : long_rows<float>, s.rows,
                  kLongRowThreads, static_cast<size_t>(staged_bytes(s.columns)), data[kX], data[kWeight],
                  data[kBias], data[kY], s.columns, kEpsilon);
  }
  static Traffic traffic(const Shape& s) { return one_read_traffic(s); }
  static bool suits(const Shape& s) { return !fits_registers(s) && fits_block(s.dims[1]); }
};

}  // namespace DEVICE::relu_layernorm
