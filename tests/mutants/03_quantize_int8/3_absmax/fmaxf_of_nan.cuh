// a maximum by > that keeps its first argument, with the NaN first | largest[
#pragma once
#include "device.hpp"

namespace DEVICE::quantize_absmax {

__global__ void find_largest(const float* x, float* largest, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  __shared__ float values[1024];
  float mine = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = fabsf(row[c]);
    if (!(value <= mine)) mine = value;
  }
  values[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
    const unsigned half = (left + 1) / 2;
    if (threadIdx.x + half < left)
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) largest[blockIdx.x] = values[0];
}

}  // namespace DEVICE::quantize_absmax
