// one block goes over all tiles | percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::linear_epilogue {

constexpr int kTile = 32;

struct BiasThenGelu {
  const float* bias;
  __device__ float operator()(float product, int column) const {
    const float v = product + bias[column];
    return 0.5f * v * (1.0f + erff(v * 0.70710678f));
  }
};

__device__ inline int ceil_div(int n, int size) { return (n + size - 1) / size; }

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w, BiasThenGelu finish,
                         float* __restrict__ y, int m, int k, int n) {
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int across = ceil_div(n, kTile), tiles = across * ceil_div(m, kTile);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = tile / across * kTile + warp, first_column = tile % across * kTile;
    float sum = 0.0f;
    for (int first = 0; first < k; first += kTile) {
      const int i = first + lane, w_row = first_column + warp;
      tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
      tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
      __syncthreads();
      for (int j = 0; j < kTile; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
      __syncthreads();
    }
    const int column = first_column + lane;
    if (row < m && column < n) y[static_cast<size_t>(row) * n + column] = finish(sum, column);
  }
}

void linear(const float* x, const float* w, const float* bias, float* y, int m, int k, int n) {
  launch(multiply, 1, dim3(kTile, kTile), x, w, BiasThenGelu{bias}, y, m, k, n);
}

}  // namespace DEVICE::linear_epilogue
