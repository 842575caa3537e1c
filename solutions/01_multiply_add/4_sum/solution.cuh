/// \file
/// Exercise 01.4, sum: add up a block in shared memory, in a fixed order.
///
/// Each thread adds up its share of x, each block adds up its threads, and a second launch of one block adds
/// up the blocks. The middle is missing: block_sum returns the value of thread 0 and ignores the others.
/// Add in a tree: half of the threads add, then a quarter, and so on, so that the order of the additions is
/// the same in every run. The check launches sum_blocks with blocks of 32, 96, 256 and 1024 threads. 96 is no
/// power of two, so in some step a thread has no other to add. The bank of a float in shared memory is its
/// index modulo 32: a request for two different floats of one bank takes two wavefronts.
///
/// Goal: right for any number of whole warps up to 1024 threads; no atomics; every float of x read once; the
/// work spread over the grid; at most 64 wavefronts per block of 256 threads (a tree can do with 52).
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_sum {

constexpr unsigned kMostThreads = 1024;

/// The sum of `value` over the threads of the block, in thread 0; every thread of the block calls it.
__device__ inline float block_sum(float value) {
  // BEGIN SOLUTION
  __shared__ float sums[kMostThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kMostThreads / 2; half > 0; half /= 2) {
    if (t < half && t + half < blockDim.x) sums[t] += sums[t + half];
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
__global__ void sum_blocks(const float* __restrict__ x, float* __restrict__ out, unsigned n) {
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace DEVICE::multiply_add_sum
