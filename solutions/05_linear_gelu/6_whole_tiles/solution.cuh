/// \file
/// Exercise 05.6, whole_tiles: a matrix product by whole tiles in shared memory.
///
/// A block computes 32 x 32 elements of x * w^T, one per thread. The code below reads a row of x and a row of
/// w from global memory for each, so every row is read 32 times by the block. Let the block go along k in
/// steps of 32: it loads a tile of x, 32 rows and 32 columns of k, and one of w into shared memory; then
/// each thread multiplies its row of the one by its row of the other. m, k and n are multiples of 32.
///
/// Goal: 1/16 of a word read from global memory for each multiplication, which is 16 bytes per element of the
/// result at k = 64, and each element written once. Bank conflicts do not count here: exercise 05.2 is about
/// them, and about tiles at the edges.
#pragma once
#include "device.hpp"

namespace DEVICE::linear_whole_tiles {

constexpr int kTile = 32;

/// product = x * w^T: x is m x k, w is n x k, product is m x n, row by row. It is launched in
/// blocks of 32 x 32 threads, one for each 32 x 32 elements; blockIdx.x counts them along n, blockIdx.y along
/// m.
__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  // BEGIN SOLUTION
  __shared__ float tile_x[kTile][kTile], tile_w[kTile][kTile];
  const int w_row = blockIdx.x * kTile + threadIdx.y;  // of the element that this thread loads
  for (int first = 0; first < k; first += kTile) {
    const int i = first + threadIdx.x;
    tile_x[threadIdx.y][threadIdx.x] = x[static_cast<size_t>(row) * k + i];
    tile_w[threadIdx.y][threadIdx.x] = w[static_cast<size_t>(w_row) * k + i];
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tile_x[threadIdx.y][j] * tile_w[threadIdx.x][j];
    __syncthreads();
  }
  // SKELETON
  // // TODO: tiles in shared memory.
  // for (int i = 0; i < k; ++i)
  //   sum += x[static_cast<size_t>(row) * k + i] * w[static_cast<size_t>(column) * k + i];
  // END SOLUTION
  product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_whole_tiles
