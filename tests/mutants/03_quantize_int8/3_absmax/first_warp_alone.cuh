// each warp shuffles, but only the first one's value is stored | largest[
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  for (int distance = 16; distance > 0; distance /= 2)
    mine = larger(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
  if (threadIdx.x == 0) largest[blockIdx.x] = mine;
}

}  // namespace DEVICE::quantize_absmax
