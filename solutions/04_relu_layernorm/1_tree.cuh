/// \file
/// Exercise 04.1, tree: finish the reduction, and find the missing barrier.
///
/// Each row's sum and sum of squares. A block has a row; its threads have added up their shares, and
/// block_sum() is to add up the threads. Only the first round of its tree is there. And a barrier is missing:
/// the kernel calls block_sum() twice. Check the exercise, and read what the CPU device says before you look
/// for it.
///
/// Goal: one launch; every element read once; no two lanes in one bank.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_tree {

constexpr int kThreads = 256;

/// The sum of `value` over the threads of the block, in all of them; every thread must call it.
__device__ inline float block_sum(float value) {
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  // BEGIN SOLUTION
  __syncthreads();
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  // SKELETON
  // // TODO: the other rounds, and a barrier.
  // sums[t] = value;
  // __syncthreads();
  // if (t < kThreads / 2) sums[t] += sums[t + kThreads / 2];
  // __syncthreads();
  // END SOLUTION
  return sums[0];
}

/// sums[r] and squares[r] = the sum of row r and of its squares; one block of kThreads threads per row.
__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, float* __restrict__ squares,
                         int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f, square = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) {
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
