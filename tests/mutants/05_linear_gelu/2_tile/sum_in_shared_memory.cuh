// the sums are in shared memory: twice as many accesses | over budget: shared wavefronts
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[32][32], tile_w[32][33];
  __shared__ volatile float sums[32][32];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane, w_row = blockIdx.x * 32 + warp;
  sums[warp][lane] = 0.0f;
  for (int first = 0; first < k; first += 32) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 32; ++j) sums[warp][lane] = sums[warp][lane] + tile_x[warp][j] * tile_w[lane][j];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sums[warp][lane];
}

}  // namespace DEVICE::linear_tile
