/// \file
/// Exercise 03.3, absmax: the largest absolute value of each row.
///
/// Each block has one row of x, and each of its threads already finds the largest absolute value among its
/// own elements. Find the largest of all with a tree in shared memory. The kernel is launched with blocks of
/// any multiple of 32 threads up to 1024, so the number of threads need not be a power of two. A NaN must not
/// count, wherever it stands; the comparison in `larger` ensures that, if the NaN is its second argument. The
/// result for a row of nothing but NaN is 0.
///
/// Goal: every element read once; with 256 threads at most 200 wavefronts in shared memory per row (12,800
/// for the 64 rows that are counted), fewer than one thread needs to look at 256 values; no atomics.
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

constexpr int kMostThreads = 1024;

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

/// largest[r] = the largest absolute value of row r; one block per row.
__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));
  // TODO: this is the largest among the elements of thread 0.
  if (threadIdx.x == 0) largest[blockIdx.x] = mine;
}

}  // namespace DEVICE::quantize_absmax
