// strides 1, 2, 4 ... by neighbouring threads, which has bank conflicts
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float shared[1024];
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int s = 1; s < int(blockDim.x); s *= 2) {
    const int index = 2 * s * threadIdx.x;
    if (index + s < int(blockDim.x)) shared[index] = fmaxf(shared[index], shared[index + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = shared[0];
}

}  // namespace DEVICE::quantize_absmax
