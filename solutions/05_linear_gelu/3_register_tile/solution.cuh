/// \file
/// Exercise 05.3, register_tile: sixteen elements per thread.
///
/// A block of 16 x 16 threads has 64 x 64 elements of x * w^T; the tiles are in shared memory already. Thread
/// (x, y) has the rows y, y + 16, y + 32 and y + 48 of the block's part of the result, and the columns x, x +
/// 16, x + 32 and x + 48. Multiply: for each step of k, four elements of x and four of w make sixteen
/// products. An element that is in a register need not be read from shared memory again.
///
/// Goal: eight words from shared memory for sixteen multiplications; the stores into the tiles included, at
/// most 10 requests and 14 wavefronts in shared memory for sixteen multiplications of a warp. At most 1/16 of
/// a word from global memory for each multiplication. The work is spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int kSide = 64, kDepth = 8, kAcross = 16, kEach = kSide / kAcross;

/// product = x * w^T: x is m x k, w is n x k, product is m x n, row by row. It is launched in
/// blocks of 16 x 16 threads, one for each 64 x 64 elements; blockIdx.x counts them along n, blockIdx.y along
/// m.
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float tile_x[kSide][kDepth + 1], tile_w[kSide][kDepth + 1];
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
    // BEGIN SOLUTION
    for (int i = 0; i < kDepth; ++i) {
      float of_x[kEach], of_w[kEach];
      for (int r = 0; r < kEach; ++r) of_x[r] = tile_x[threadIdx.y + r * kAcross][i];
      for (int c = 0; c < kEach; ++c) of_w[c] = tile_w[threadIdx.x + c * kAcross][i];
      for (int r = 0; r < kEach; ++r)
        for (int c = 0; c < kEach; ++c) sum[r][c] += of_x[r] * of_w[c];
    }
    // SKELETON
    // // TODO: for each of the tile's kDepth steps, sixteen multiplications.
    // END SOLUTION
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
