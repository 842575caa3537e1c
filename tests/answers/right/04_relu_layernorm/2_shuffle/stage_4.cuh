// stage 4 of the chapter
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_shuffle {

__device__ inline float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}

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

__global__ void row_squares(const float* __restrict__ x, float* __restrict__ squares, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
  sum = block_sum_by_warps(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

}  // namespace DEVICE::layernorm_shuffle
