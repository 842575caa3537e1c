// the threads beyond the largest power of two are folded in first
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float values[1024];
  const unsigned t = threadIdx.x;
  unsigned width = 32;
  while (2 * width <= blockDim.x) width *= 2;
  values[t] = mine;
  __syncthreads();
  if (t + width < blockDim.x) values[t] = larger(values[t], values[t + width]);
  __syncthreads();
  for (unsigned half = width / 2; half > 0; half >>= 1) {
    if (t < half) values[t] = larger(values[t], values[t + half]);
    __syncthreads();
  }
  if (t == 0) largest[blockIdx.x] = values[0];
}

}  // namespace DEVICE::quantize_absmax
