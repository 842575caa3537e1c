// only x is in a tile, and w is loaded from device memory for each element | over budget: bytes read
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 32) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    __syncthreads();
    if (column < n)
      for (int j = 0; j < 32 && first + j < k; ++j)
        sum += tile_x[warp][j] * w[static_cast<size_t>(column) * k + first + j];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
