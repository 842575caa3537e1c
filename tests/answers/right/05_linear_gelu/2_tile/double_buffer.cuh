// two tiles of each matrix, and one barrier per step
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

struct Tiles {
  float x[32][32], w[32][33];
};

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ Tiles tiles[2];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane, w_row = blockIdx.x * 32 + warp;
  const auto load = [&](int first) {
    Tiles& to = tiles[first / 32 % 2];
    const int i = first + lane;
    to.x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    to.w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
  };
  float sum = 0.0f;
  load(0);
  for (int first = 0; first < k; first += 32) {
    __syncthreads();
    if (first + 32 < k) load(first + 32);
    const Tiles& now = tiles[first / 32 % 2];
    for (int j = 0; j < 32; ++j) sum += now.x[warp][j] * now.w[lane][j];
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
