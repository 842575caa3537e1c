/// \file
/// Exercise 04.1, tree: finish the reduction, and find the missing barrier.
///
/// Each row's sum and sum of squares. A block has a row; its threads have added up their shares, and
/// block_sum() is to add up the threads. Only the first round of its tree is there. And a barrier is missing:
/// the kernel calls block_sum() twice. Check the exercise, and read what the CPU device says before you look
/// for it.
///
/// The check launches one block per row and tries blocks of 32, 96, 256 and 1024 threads, so the kernel must
/// be right for any multiple of 32. From 96 threads the rounds leave 48, 24, 12, 6 and 3 sums: 3 is odd, so
/// in the next round one of them has no partner, and must not be lost.
///
/// Goal: every element read once; no atomics; with 256 threads at most 200 wavefronts of shared memory per
/// row, which a tree without bank conflicts keeps. The rows are shared by the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

constexpr int kMostThreads = 1024;

/// The sum of `value` over the threads of the block, in all of them; every thread must call it.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kMostThreads];
  const unsigned t = threadIdx.x;
  // BEGIN SOLUTION
  __syncthreads();
  sums[t] = value;
  __syncthreads();
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned half = (count + 1) / 2;  // rounded up: the one in the middle of an odd count stays
    if (t + half < count) sums[t] += sums[t + half];
    __syncthreads();
    count = half;
  }
  // SKELETON
  // // TODO: the other rounds, and a barrier.
  // sums[t] = value;
  // __syncthreads();
  // if (t < blockDim.x / 2) sums[t] += sums[t + blockDim.x / 2];
  // __syncthreads();
  // END SOLUTION
  return sums[0];
}

/// sums[r] and squares[r] = the sum of row r and of its squares; one block per row.
__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f, square = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = row[c];
    sum += value;
    square += value * value;
  }
  sum = block_sum(sum);
  square = block_sum(square);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    squares[blockIdx.x] = square;
  }
}

}  // namespace DEVICE::layernorm_tree
