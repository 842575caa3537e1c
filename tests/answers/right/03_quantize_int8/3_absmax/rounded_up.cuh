// a tree over 1024 values, the missing ones zeros
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ float values[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) values[i] = 0.0f;
  __syncthreads();
  values[threadIdx.x] = mine;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    for (int i = threadIdx.x; i < half; i += blockDim.x) values[i] = larger(values[i], values[i + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = values[0];
}

}  // namespace DEVICE::quantize_absmax
