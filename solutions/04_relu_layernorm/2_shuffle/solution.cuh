/// \file
/// Exercise 04.2, shuffle: add up a block in registers.
///
/// The tree below costs one barrier per round. Let the lanes of each warp exchange their values with
/// __shfl_down_sync or __shfl_xor_sync, so that only the sums of the warps go through shared memory.
///
/// The check launches one block per row and tries blocks of 32, 96, 256 and 1024 threads, so the kernel must
/// be right for any multiple of 32: 1024 threads are 32 warps, 96 are 3.
///
/// Goal: every element read once; at most two barriers, and no atomics; with 256 threads at most 24
/// wavefronts of shared memory per row. The rows are shared by the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

constexpr int kMostThreads = 1024;

// BEGIN SOLUTION
/// The sum of `value` over the 32 lanes of the warp, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

// SKELETON
// END SOLUTION
/// The sum of `value` over the threads of the block, in thread 0; every thread must call it.
__device__ inline float block_sum(float value) {
  // BEGIN SOLUTION
  __shared__ float found[kMostThreads / 32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_sum(value);
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_sum(lane < blockDim.x / 32 ? found[lane] : 0.0f);
  // SKELETON
  // // TODO: warps first.
  // __shared__ float sums[kMostThreads];
  // const unsigned t = threadIdx.x;
  // sums[t] = value;
  // __syncthreads();
  // for (unsigned count = blockDim.x; count > 1;) {
  //   const unsigned half = (count + 1) / 2;
  //   if (t + half < count) sums[t] += sums[t + half];
  //   __syncthreads();
  //   count = half;
  // }
  // return sums[0];
  // END SOLUTION
}

/// squares[r] = the sum of the squares of row r; one block per row.
__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
  sum = block_sum(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
