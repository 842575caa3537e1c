/// \file
/// For kernels: the sum of a value over the lanes of a warp, and over the threads of a block, by shuffles.
/// Stage 4 of chapter 04 introduces both.
#pragma once
#include "device.hpp"

namespace DEVICE {

// [sums]
/// The sum of `value` over the 32 lanes of the warp, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

/// The sum of `value` over a block of whole warps, in every thread; all of them must call it. Each warp adds
/// up its own values, then every warp adds up the sums of all warps. It can be called again at once.
__device__ inline float block_sum_by_warps(float value) {
  __shared__ float sums[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_sum(value);
  if (blockDim.x == 32) return value;
  __syncthreads();  // every thread has read the sums of an earlier call
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  return warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0.0f);
}
// [sums]

}  // namespace DEVICE
