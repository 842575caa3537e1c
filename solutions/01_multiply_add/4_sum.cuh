/// \file
/// Exercise 01.4, sum: add up a block in shared memory, in a fixed order.
///
/// Each thread adds up its share of x, each block adds up its threads, and a second kernel of one block adds
/// up the blocks. The middle is missing: block_sum returns the value of thread 0 and ignores the others.
/// Add in a tree: half of the threads add, then a quarter, and so on, so that the order of the additions is
/// the same in every run. The bank of a float in shared memory is its index modulo 32: a request for two
/// different floats of one bank takes two wavefronts.
///
/// Goal: two launches, no atomics, every float of x read once; 52 wavefronts per block.
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

constexpr int kThreads = 256;

/// The sum of `value` over the threads of the block, in thread 0; every thread of the block calls it.
__device__ inline float block_sum(float value) {
  // BEGIN SOLUTION
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return sums[0];
  // SKELETON
  // // TODO: the other threads' values
  // return value;
  // END SOLUTION
}

/// out[b] = the sum of the elements of x that the threads of block b have: thread t of all T threads has
/// x[t], x[t + T], x[t + 2 * T] ...
__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, int n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < static_cast<unsigned>(n);
       i += gridDim.x * kThreads)
    sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Computes total[0] = x[0] + ... + x[n - 1]; `partial` has room for `blocks` floats. All are device memory.
inline void sum(const float* x, float* partial, int blocks, float* total, int n) {
  launch(sum_blocks, blocks, kThreads, x, partial, n);
  launch(sum_blocks, 1, kThreads, partial, total, blocks);
}

}  // namespace DEVICE::multiply_add_sum
