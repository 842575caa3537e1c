// strides 1, 2, 4 ...: the first of two neighbours takes the larger
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float rows[1024];
  const unsigned t = threadIdx.x;
  rows[t] = mine;
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0 && t + stride < blockDim.x) rows[t] = larger(rows[t], rows[t + stride]);
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.x] = rows[0];
}

}  // namespace DEVICE::quantize_absmax
