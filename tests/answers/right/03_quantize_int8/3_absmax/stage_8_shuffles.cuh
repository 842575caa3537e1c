// the lesson's stage 8: shuffles in each warp, then over the warps
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__device__ inline float warp_largest(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

__device__ inline float block_largest_by_warps(float value) {
  __shared__ float found[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = warp_largest(value);
  if (blockDim.x == 32) return value;
  if (lane == 0) found[warp] = value;
  __syncthreads();
  return warp_largest(lane < blockDim.x / 32 ? found[lane] : 0.0f);
}

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));
  const float of_block = block_largest_by_warps(mine);
  if (threadIdx.x == 0) largest[blockIdx.x] = of_block;
}

}  // namespace DEVICE::quantize_absmax
