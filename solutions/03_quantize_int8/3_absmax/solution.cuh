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
  // BEGIN SOLUTION
  __shared__ float values[kMostThreads];
  const unsigned t = threadIdx.x;
  values[t] = mine;
  __syncthreads();
  // If the number of values is odd, the middle one waits for the next round.
  for (unsigned left = blockDim.x, half = 0; left > 1; left = half) {
    half = (left + 1) / 2;
    if (t + half < left) values[t] = larger(values[t], values[t + half]);
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.x] = values[0];
  // SKELETON
  // // TODO: this is the largest among the elements of thread 0.
  // if (threadIdx.x == 0) largest[blockIdx.x] = mine;
  // END SOLUTION
}

}  // namespace DEVICE::quantize_absmax
