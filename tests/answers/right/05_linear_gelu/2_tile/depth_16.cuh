// sixteen steps at a time: half of the block loads x, the other half w
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kDepth = 16;

template <int kRows>
__device__ void load_tile(float (&tile)[kRows][kDepth + 1], const float* a, int first_row, int first,
                          int rows, int k, int t) {
  const int r = t / kDepth, i = t % kDepth;
  const bool inside = first_row + r < rows && first + i < k;
  tile[r][i] = inside ? a[static_cast<size_t>(first_row + r) * k + first + i] : 0.0f;
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[32][kDepth + 1];
  __shared__ float tile_w[32][kDepth + 1];
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += kDepth) {
    if (t < 512)
      load_tile<32>(tile_x, x, blockIdx.y * 32, first, m, k, t);
    else
      load_tile<32>(tile_w, w, blockIdx.x * 32, first, n, k, t - 512);
    __syncthreads();
    for (int j = 0; j < kDepth; ++j) sum += tile_x[threadIdx.y][j] * tile_w[threadIdx.x][j];
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
