// atomicMax on the bits | over budget: atomics
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__device__ inline float larger(float a, float b) { return b > a ? b : a; }

__global__ void find_largest(const float* __restrict__ x, float* __restrict__ largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) mine = larger(mine, fabsf(row[c]));

  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  atomicMax(&most, __float_as_int(mine));
  __syncthreads();
  if (threadIdx.x == 0) largest[blockIdx.x] = __int_as_float(most);
}

}  // namespace DEVICE::quantize_absmax
