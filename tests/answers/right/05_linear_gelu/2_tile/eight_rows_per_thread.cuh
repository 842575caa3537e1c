// a quarter of the warps multiplies, eight rows per thread; all warps load
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kTile = 32, kEach = 8;

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int first_row = blockIdx.y * kTile, first_column = blockIdx.x * kTile;
  const bool multiplies = warp < kTile / kEach;
  float sums[kEach] = {};
  for (int first = 0; first < k; first += kTile) {
    const int i = first + lane;
    const bool in_x = first_row + warp < m && i < k, in_w = first_column + warp < n && i < k;
    tile_x[warp][lane] = in_x ? x[static_cast<size_t>(first_row + warp) * k + i] : 0.0f;
    tile_w[warp][lane] = in_w ? w[static_cast<size_t>(first_column + warp) * k + i] : 0.0f;
    __syncthreads();
    if (multiplies)
      for (int j = 0; j < kTile; ++j) {
        const float of_w = tile_w[lane][j];
        for (int r = 0; r < kEach; ++r) sums[r] += tile_x[warp * kEach + r][j] * of_w;
      }
    __syncthreads();
  }
  if (!multiplies || first_column + lane >= n) return;
  for (int r = 0; r < kEach; ++r) {
    const int row = first_row + warp * kEach + r;
    if (row < m) product[static_cast<size_t>(row) * n + first_column + lane] = sums[r];
  }
}

}  // namespace DEVICE::linear_tile
