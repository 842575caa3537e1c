// the column is exclusive-ored with the row
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

constexpr int kTile = 32;

__device__ inline int swizzled(int row, int column) { return row * kTile + (column ^ row); }

__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  __shared__ float tile[kTile * kTile];
  const int first_row = blockIdx.x * kTile, t = threadIdx.x;
  float sum = 0.0f;
  for (int left = 0; left < columns; left += kTile) {
    for (int r = threadIdx.y; r < kTile; r += blockDim.y) {
      const bool inside = first_row + r < rows && left + t < columns;
      tile[swizzled(r, t)] = inside ? x[static_cast<size_t>(first_row + r) * columns + left + t] : 0.0f;
    }
    __syncthreads();
    if (threadIdx.y == 0)
      for (int k = 0; k < kTile; ++k) sum += tile[swizzled(t, k)];
    __syncthreads();
  }
  if (threadIdx.y == 0 && first_row + t < rows) sums[first_row + t] = sum;
}

}  // namespace DEVICE::layernorm_conflicts
