// the values of eight warps, whatever the block has | largest[
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__device__ inline float warp_largest(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

__global__ void find_largest(const float* x, float* largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));
  __shared__ float found[32];
  if (threadIdx.x < 32) found[threadIdx.x] = 0.0f;
  __syncthreads();
  mine = warp_largest(mine);
  if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) mine = larger(mine, found[w]);
    largest[blockIdx.x] = mine;
  }
}

}  // namespace DEVICE::quantize_absmax
