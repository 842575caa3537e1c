// float4 from shared memory, from rows of 36 words
#pragma once
#include "device.hpp"

namespace DEVICE::linear_tile {

constexpr int kRow = 36;

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ __align__(16) float tile_x[32][kRow];
  __shared__ __align__(16) float tile_w[32][kRow];
  const int lane = threadIdx.x, warp = threadIdx.y;
  const int row = blockIdx.y * 32 + warp, column = blockIdx.x * 32 + lane, w_row = blockIdx.x * 32 + warp;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 32) {
    const int i = first + lane;
    tile_x[warp][lane] = row < m && i < k ? x[static_cast<size_t>(row) * k + i] : 0.0f;
    tile_w[warp][lane] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 32; j += 4) {
      const float4 a = *reinterpret_cast<const float4*>(&tile_x[warp][j]);
      const float4 b = *reinterpret_cast<const float4*>(&tile_w[lane][j]);
      sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    __syncthreads();
  }
  if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum;
}

}  // namespace DEVICE::linear_tile
