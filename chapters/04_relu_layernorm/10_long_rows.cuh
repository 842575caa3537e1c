/// \file
/// Stage 10 for rows that are too long for the registers of a block: the rest of the row waits in shared
/// memory, so it is still read once. Such rows are so long that two blocks fill a multiprocessor, and what
/// counts is how many loads each has on their way: those of weight and bias go out four at a time.
#pragma once
#include "10_one_read.cuh"

namespace DEVICE::relu_layernorm {

constexpr int kLongRowThreads = 512;

/// out = the normalised row of relu(x), of which this block of kLongRowThreads threads has `vectors` vectors.
/// `sum_of_row` adds up a value of each thread over all that share the row. Thread t has the vectors t, t +
/// blockDim.x and so on: the first kHeld in registers, the others in dynamic shared memory, where no other
/// thread reads them.
template <class Vector, class Sum>
__device__ void normalise_slice(const Vector* __restrict__ x, const Vector* __restrict__ weight,
                                const Vector* __restrict__ bias, Vector* __restrict__ out, int vectors,
                                int columns, float epsilon, Sum sum_of_row) {
  constexpr int kBatch = kHeld<Vector>, kHeldVectors = kHeld<Vector> * kLongRowThreads;
  const int t = threadIdx.x;
  Vector* waiting = dynamic_shared<Vector>() - kHeldVectors;
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    __pipeline_memcpy_async(&waiting[i], &x[i], sizeof(Vector));
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
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads) sum += sum_of(relu(waiting[i]));
  const float mean = sum_of_row(sum) / static_cast<float>(columns);

  float squares = 0.0f;
#pragma unroll
  for (int j = 0; j < kHeld<Vector>; ++j) {
    held[j] = less(held[j], mean);
    squares += t + j * kLongRowThreads < vectors ? sum_of<Square>(held[j]) : 0.0f;
  }
#pragma unroll 4
  for (int i = kHeldVectors + t; i < vectors; i += kLongRowThreads)
    squares += sum_of<Square>(less(relu(waiting[i]), mean));
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
    write(batch, [&](int i, int) { return less(relu(waiting[i]), mean); });
}

/// y = the normalised row of relu(x), one block of kLongRowThreads threads per row; `Vector` as in
/// one_read(). Dynamic shared memory: 4 bytes for each column after the first 16 *
/// kLongRowThreads. Traffic: that of one_read().
template <class Vector>
__global__ void __launch_bounds__(kLongRowThreads, 2)
    long_rows(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
              float* __restrict__ y, int columns, float epsilon) {
  const size_t first = static_cast<size_t>(blockIdx.x) * columns;
  normalise_slice(reinterpret_cast<const Vector*>(x + first), reinterpret_cast<const Vector*>(weight),
                  reinterpret_cast<const Vector*>(bias), reinterpret_cast<Vector*>(y + first),
                  columns / static_cast<int>(sizeof(Vector) / sizeof(float)), columns, epsilon,
                  [](float value) { return block_sum_by_warps(value); });
}

}  // namespace DEVICE::relu_layernorm
