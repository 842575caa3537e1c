/// \file
/// For 10_long_rows and 12_clusters: a block normalises a long row, or its slice of one, which it reads once.
#pragma once
#include "rows.cuh"

namespace DEVICE::relu_layernorm {

// [slice]
constexpr int kLongRowThreads = 512;

/// out = the normalised row of relu(x), of which this block of kLongRowThreads threads has `vectors` vectors.
/// `sum_of_row` adds up a value of each thread over all threads that share the row. Thread t has the vectors
/// t, t + blockDim.x and so on: the first kHeld in registers, the others in dynamic shared memory, where no
/// other thread reads them.
template <class Vector, class Sum>
__device__ void normalise_slice(const Vector* __restrict__ x, const Vector* __restrict__ weight,
                                const Vector* __restrict__ bias, Vector* __restrict__ out, int vectors,
                                int columns, float epsilon, Sum sum_of_row) {
  constexpr int kBatch = kHeld<Vector>, kHeldVectors = kHeld<Vector> * kLongRowThreads;
  const int t = threadIdx.x;
  Vector* staged = dynamic_shared<Vector>();  // staged[i] is x[kHeldVectors + i]
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    __pipeline_memcpy_async(&staged[i - kHeldVectors], &x[i], sizeof(Vector));
  __pipeline_commit();
  Vector held[kHeld<Vector>];
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    const int i = t + j * kLongRowThreads;
    held[j] = i < vectors ? x[i] : Vector{};
  }

  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) sum += sum_of(held[j] = relu(held[j]));
  __pipeline_wait_prior(0);
#pragma unroll 4
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    sum += sum_of(relu(staged[i - kHeldVectors]));
  const float mean = sum_of_row(sum) / static_cast<float>(columns);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = subtract(held[j], mean);
    squares += t + j * kLongRowThreads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
#pragma unroll 4
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    squares += sum_of<Square>(subtract(relu(staged[i - kHeldVectors]), mean));
  const float inverse = rsqrtf(sum_of_row(squares) / static_cast<float>(columns) + epsilon);

  const auto write = [&](int batch, auto centred) {
    Vector weights[kBatch], biases[kBatch];
#pragma unroll
    for (int j = 0; j < kBatch; ++j) {
      const int i = batch + j * kLongRowThreads;
      weights[j] = i < vectors ? weight[i] : Vector{};
      biases[j] = i < vectors ? bias[i] : Vector{};
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
// [slice]

// --- On the host ---

/// Bytes of dynamic shared memory of a block that has `columns` columns of a row.
inline int staged_bytes(int columns) {
  const int bytes = 4 * columns - kLongRowThreads * kHeldBytes;
  return bytes > 0 ? bytes : 0;
}

/// Whether one block can hold so much of a row. The kernels' own arrays in shared memory take up to 256
/// bytes.
inline bool fits_block(int columns) { return staged_bytes(columns) + 256 <= most_shared_bytes(); }

}  // namespace DEVICE::relu_layernorm
