// the store to a transposed tile hits one bank with all lanes | over budget: shared wavefronts
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[32][32], tile_w[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane, w_row = blockIdx.x * 32 + warp;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 32) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[lane][warp] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 32; ++j) sum += tile_x[warp][j] * tile_w[j][lane];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
