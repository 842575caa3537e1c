// each of the eight warps adds four columns of the tile; their sums are added at the end
#pragma once
#include "device.hpp"

namespace DEVICE::layernorm_conflicts {

constexpr int kTile = 32, kWarps = 8;

__global__ void sum_rows(const float* __restrict__ x, float* __restrict__ sums, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  __shared__ float parts[kWarps][kTile];
  const int t = threadIdx.x, w = threadIdx.y, row = blockIdx.x * kTile;
  float part = 0.0f;
  for (int left = 0; left < columns; left += kTile) {
    for (int r = w; r < kTile; r += kWarps)
      tile[r][t] = row + r < rows && left + t < columns ? x[size_t(row + r) * columns + left + t] : 0.0f;
    __syncthreads();
    for (int k = w; k < kTile; k += kWarps) part += tile[t][k];
    __syncthreads();
  }
  parts[w][t] = part;
  __syncthreads();
  if (w > 0 || row + t >= rows) return;
  for (int other = 1; other < kWarps; ++other) part += parts[other][t];
  sums[row + t] = part;
}

}  // namespace DEVICE::layernorm_conflicts
