// no padding: the columns of the tile of w are permuted
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, unsigned m, unsigned k, unsigned n) {
  __shared__ float tile_x[32 * 32], tile_w[32 * 32];
  const auto place = [](unsigned row, unsigned i) { return row * 32 + (i ^ row); };
  const unsigned lane = threadIdx.x, warp = threadIdx.y;
  const unsigned row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane;
  const unsigned w_row = blockIdx.x * 32 + warp;
  float sum = 0.0f;
  for (unsigned first = 0; first < k; first += 32) {
    const unsigned i = first + lane;
    tile_x[warp * 32 + lane] = 0.0f;
    tile_w[place(warp, lane)] = 0.0f;
    if (i < k) {
      if (row < m) tile_x[warp * 32 + lane] = x[static_cast<size_t>(row) * k + i];
      if (w_row < n) tile_w[place(warp, lane)] = w[static_cast<size_t>(w_row) * k + i];
    }
    __syncthreads();
    for (unsigned j = 0; j < 32; ++j) sum += tile_x[warp * 32 + j] * tile_w[place(lane, j)];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
