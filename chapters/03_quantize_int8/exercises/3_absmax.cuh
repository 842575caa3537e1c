/// \file
/// Exercise 03.3, absmax: the largest absolute value of each row.
///
/// A block has a row of x, and each of its threads already finds the largest absolute value of the elements
/// that it looks at. Let the block agree on the largest of all, by a tree in shared memory. A NaN counts as
/// nothing; the comparison in `larger` sees to that, as long as the NaN comes second.
///
/// Goal: one launch; every element read once; the same result in every run.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

constexpr int kThreads = 256;

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

/// largest[r] = the largest absolute value of row r; one block of kThreads threads per row.
__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) mine = larger(mine, fabsf(row[c]));
  // TODO: this is the largest of what thread 0 has seen.
  if (threadIdx.x == 0) largest[blockIdx.x] = mine;
}

}  // namespace DEVICE::quantize_absmax
