/// \file
/// Exercise 04.2, shuffle: add up a block in registers.
///
/// The tree below costs one barrier per round. Let the lanes of each warp exchange their values with
/// __shfl_down_sync or __shfl_xor_sync, so that only the sums of the eight warps go through shared memory.
///
/// Goal: at most 24 wavefronts of shared memory per row, and two barriers.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

constexpr int kThreads = 256;

/// The sum of `value` over the threads of the block, in thread 0; every thread must call it.
__device__ inline float block_sum(float value) {
  // TODO: warps first.
  __shared__ float sums[kThreads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return sums[0];
}

/// squares[r] = the sum of the squares of row r; one block of kThreads threads per row.
__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += row[c] * row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
