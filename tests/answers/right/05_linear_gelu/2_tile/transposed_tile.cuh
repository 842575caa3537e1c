// the tile of w is stored transposed, and a helper loads
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int TILE = 32;

__device__ __forceinline__ float at(const float* a, int row, int col, int rows, int cols) {
  return (row < rows && col < cols) ? a[(size_t)row * cols + col] : 0.f;
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ float xs[TILE][TILE];
  __shared__ float wt[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float acc = 0.f;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    xs[ty][tx] = at(x, row0 + ty, k0 + tx, m, k);
    wt[tx][ty] = at(w, col0 + ty, k0 + tx, n, k);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < TILE; ++kk) acc = fmaf(xs[ty][kk], wt[kk][tx], acc);
    __syncthreads();
  }
  if (row0 + ty < m && col0 + tx < n) product[(size_t)(row0 + ty) * n + col0 + tx] = acc;
}

}  // namespace DEVICE::linear_tile
