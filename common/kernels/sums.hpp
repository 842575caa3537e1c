/// \file
/// For kernels: the sum and the maximum of a value over the lanes of a warp and the threads of a block.
/// Stage 5 of chapter 01 introduces the tree in shared memory, stage 4 of chapter 04 the shuffles.
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

// [maxima]
/// The largest `value` of the 32 lanes of the warp, in every lane.
__device__ inline float warp_max(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

/// The largest `value` of a block of whole warps, in every thread, as block_sum_by_warps().
__device__ inline float block_max_by_warps(float value) {
  __shared__ float maxima[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_max(value);
  if (blockDim.x == 32) return value;
  __syncthreads();  // every thread has read the maxima of an earlier call
  if (lane == 0) maxima[warp] = value;
  __syncthreads();
  return warp_max(maxima[lane < blockDim.x / 32 ? lane : 0]);
}
// [maxima]

// [block_sum]
/// The sum of `value` over the Threads threads of the block, a power of two, in thread 0; every thread of the
/// block must call it. A tree in shared memory: half of the threads add, then a quarter, and so on. The order
/// is fixed, so the result is the same to the bit in every run.
template <int Threads>
__device__ inline float block_sum(float value) {
  __shared__ float sums[Threads];
  const unsigned t = threadIdx.x;
  sums[t] = value;
  __syncthreads();
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  return t == 0 ? sums[0] : 0.0f;
}
// [block_sum]

}  // namespace DEVICE
