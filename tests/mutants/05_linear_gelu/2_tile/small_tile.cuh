// tiles of 8 x 8: three quarters of each block are missing | product[8] 
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kTile = 8;

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  if (lane >= kTile || warp >= kTile) return;
  const int row = blockIdx.y * kTile + warp, column = blockIdx.x * kTile + lane;
  const int w_row = blockIdx.x * kTile + warp;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kTile; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
