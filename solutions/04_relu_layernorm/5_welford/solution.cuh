/// \file
/// Exercise 04.5, welford: mean and variance in one pass.
///
/// Accurate also for large numbers that are close together. Each thread keeps count, mean and the sum of
/// squared distances from the mean for its numbers; a tree merges those of the threads. Write the two steps:
/// welford_update() adds one number, and merged() merges two parts; the lesson derives both. By hand, the
/// parts {4, 4, 6} and {2, 10, 2} of count, mean and squares are {6, 6, 56} together. One number is a part
/// with count 1 and squares 0. A part without numbers has count, mean and squares 0.
///
/// The check launches one block of 256 threads per row. It also calls merged() itself, so keep Moments and
/// merged() as they are declared: merged_mean[i] and so on are of pair i of eight pairs of parts. In pair 1 b
/// is empty, in pair 2 a is, and in pair 3 both are.
///
/// Goal: every element read once. The rows are shared by the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_welford {

constexpr int kThreads = 256;  // the check launches blocks of this size

/// Of `count` numbers: their mean, and the sum of the squares of their distances from it.
struct Moments {
  float count, mean, squares;
};

/// The same for both parts together; either may be empty, and both.
__device__ inline Moments merged(Moments a, Moments b) {
  // BEGIN SOLUTION
  const float count = a.count + b.count, distance = b.mean - a.mean;
  const float share = count > 0.0f ? b.count / count : 0.0f;
  return {count, a.mean + distance * share, a.squares + b.squares + distance * distance * a.count * share};
  // SKELETON
  // // TODO: this forgets how far the two means are apart.
  // return {a.count + b.count, a.mean, a.squares + b.squares};
  // END SOLUTION
}

/// One number more.
__device__ inline Moments welford_update(Moments m, float x) {
  // BEGIN SOLUTION
  const float count = m.count + 1.0f, distance = x - m.mean;
  const float mean = m.mean + distance / count;
  return {count, mean, m.squares + distance * (x - mean)};
  // SKELETON
  // // TODO: a part of one number, put together with m.
  // return {m.count + 1.0f, x, m.squares};
  // END SOLUTION
}

/// means[r] and variances[r] of row r, the latter divided by the number of columns; one block of kThreads
/// threads per row.
__global__ void row_moments(const float* __restrict__ x, float* __restrict__ means,
                            float* __restrict__ variances, int columns) {
  __shared__ float count[kThreads], mean[kThreads], squares[kThreads];
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  const unsigned t = threadIdx.x;
  Moments mine = {0.0f, 0.0f, 0.0f};
  for (int c = t; c < columns; c += kThreads) mine = welford_update(mine, row[c]);
  count[t] = mine.count;
  mean[t] = mine.mean;
  squares[t] = mine.squares;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) {
      mine = merged(mine, {count[t + half], mean[t + half], squares[t + half]});
      count[t] = mine.count;
      mean[t] = mine.mean;
      squares[t] = mine.squares;
    }
    __syncthreads();
  }
  if (t == 0) {
    means[blockIdx.x] = mine.mean;
    variances[blockIdx.x] = mine.squares / mine.count;
  }
}

}  // namespace DEVICE::layernorm_welford
