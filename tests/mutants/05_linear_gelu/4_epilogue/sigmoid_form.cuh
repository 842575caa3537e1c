// the sigmoid form of GELU | is 
#pragma once
#include "device.hpp"

namespace DEVICE::linear_epilogue {

constexpr int kTile = 32;

__device__ inline float gelu(float v) { return v / (1.0f + expf(-1.702f * v)); }

/// y = gelu(x * w^T + bias): x is m x k, w is n x k, bias has n elements, y is m x n, row by row. Blocks of
/// kTile x kTile threads; blockIdx.x counts tiles along n, blockIdx.y along m.
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         const float* __restrict__ bias, float* __restrict__ y, int m, int k, int n) {
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * kTile + warp, column = blockIdx.x * kTile + lane,
            w_row = blockIdx.x * kTile + warp;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kTile) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
    __syncthreads();
  }
  if (row < m && column < n) y[static_cast<size_t>(row) * n + column] = gelu(sum + bias[column]);
}

inline void linear(const float* x, const float* w, const float* bias, float* y, int m, int k, int n) {
  const dim3 grid(static_cast<unsigned>((n - 1) / kTile + 1), static_cast<unsigned>((m - 1) / kTile + 1));
  launch(multiply, grid, dim3(kTile, kTile), x, w, bias, y, m, k, n);
}

}  // namespace DEVICE::linear_epilogue
