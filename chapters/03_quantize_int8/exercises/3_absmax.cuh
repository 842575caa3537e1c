/// \file
/// Exercise 03.3, absmax: the largest absolute value of each row.
///
/// Each block has one row of x, and each of its threads already finds the largest absolute value among its
/// own elements. Find the largest of all with a tree in shared memory. A NaN must not count; the comparison
/// in `larger` ensures that, if the NaN is its second argument.
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
  // TODO: this is the largest among the elements of thread 0.
  if (threadIdx.x == 0) largest[blockIdx.x] = mine;
}

}  // namespace DEVICE::quantize_absmax
