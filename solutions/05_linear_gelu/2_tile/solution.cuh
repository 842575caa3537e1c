/// \file
/// Exercise 05.2, tile: a matrix product by tiles in shared memory, at any size.
///
/// A block computes 32 x 32 elements of x * w^T, one per thread. The code below reads a row of x and a row of
/// w from global memory for each. Let the block load a tile of x, 32 rows and 32 steps of k, and one of w
/// into shared memory, multiply, and go on to the next. m, k and n are not always multiples of 32; and lanes
/// that read a tile down a column must not all read from one bank.
///
/// Goal: 1/16 of a word read from global memory for each multiplication, which is 16 bytes per element of the
/// result at k = 64, and each element written once; in shared memory at most 9 wavefronts for 4 x 32
/// multiplications, stores included. The work is spread over the grid.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kTile = 32;

/// product = x * w^T: x is m x k, w is n x k, product is m x n, row by row. It is launched in
/// blocks of 32 x 32 threads, one for each 32 x 32 elements; blockIdx.x counts them along n, blockIdx.y along
/// m.
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * kTile + warp, column = blockIdx.x * kTile + lane;
  float sum = 0.0f;
  // BEGIN SOLUTION
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile + 1];
  const int w_row = blockIdx.x * kTile + warp;
  for (int first = 0; first < k; first += kTile) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tile_x[warp][j] * tile_w[lane][j];
    __syncthreads();
  }
  // SKELETON
  // // TODO: tiles in shared memory.
  // if (row < m && column < n)
  //   for (int i = 0; i < k; ++i)
  //     sum += x[static_cast<size_t>(row) * k + i] * w[static_cast<size_t>(column) * k + i];
  // END SOLUTION
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
