// one thread of each warp looks at 32 values | over budget: shared wavefronts
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float values[1024];
  values[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    for (int i = 1; i < 32; ++i) values[threadIdx.x] = larger(values[threadIdx.x], values[threadIdx.x + i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 32; i < int(blockDim.x); i += 32) values[0] = larger(values[0], values[i]);
    largest[blockIdx.x] = values[0];
  }
}

}  // namespace DEVICE::quantize_absmax
