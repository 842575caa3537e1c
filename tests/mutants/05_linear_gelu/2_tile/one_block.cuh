// the first block goes over all tiles | percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[32][32], tile_w[32][33];
  if (blockIdx.x > 0 || blockIdx.y > 0) return;
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int first_row = 0; first_row < m; first_row += 32)
    for (int first_column = 0; first_column < n; first_column += 32) {
      const int row = first_row + warp, column = first_column + lane, w_row = first_column + warp;
      float sum = 0.0f;
      for (int first = 0; first < k; first += 32) {
        const int i = first + lane;
        tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
        tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 32; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
        __syncthreads();
      }
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
    }
}

}  // namespace DEVICE::linear_tile
