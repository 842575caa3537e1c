// rows of 8 words: four lanes per bank | over budget: shared wavefronts
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int kSide = 64, kDepth = 8, kAcross = 16, kEach = kSide / kAcross;

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[kSide][kDepth], tile_w[kSide][kDepth];
  const int t = threadIdx.y * kAcross + threadIdx.x;
  const int first_row = blockIdx.y * kSide, first_column = blockIdx.x * kSide;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int j = t; j < kSide * kDepth; j += kAcross * kAcross) {
      const int row = j / kDepth, i = first + j % kDepth;
      const bool in_x = first_row + row < m && i < k, in_w = first_column + row < n && i < k;
      tile_x[row][j % kDepth] = in_x ? x[static_cast<size_t>(first_row + row) * k + i] : 0.0f;
      tile_w[row][j % kDepth] = in_w ? w[static_cast<size_t>(first_column + row) * k + i] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      for (int r = 0; r < kEach; ++r) of_x[r] = tile_x[threadIdx.y + r * kAcross][i];
      for (int c = 0; c < kEach; ++c) of_w[c] = tile_w[threadIdx.x + c * kAcross][i];
      for (int r = 0; r < kEach; ++r)
        for (int c = 0; c < kEach; ++c) sum[r][c] += of_x[r] * of_w[c];
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r)
    for (int c = 0; c < kEach; ++c) {
      const int row = first_row + threadIdx.y + r * kAcross,
                column = first_column + threadIdx.x + c * kAcross;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum[r][c];
    }
}

}  // namespace DEVICE::linear_register_tile
