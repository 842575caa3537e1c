// thirty-two steps at a time, and float4 along k from shared memory
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int kDepth = 32, kRow = kDepth + 4;

__device__ inline float dot(float4 a, float4 b, float sum) {
  return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum))));
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, unsigned m, unsigned k, unsigned n) {
  __shared__ __align__(16) float tile_x[64][kRow];
  __shared__ __align__(16) float tile_w[64][kRow];
  const unsigned lane = (threadIdx.y * 16 + threadIdx.x) % 32, warp = threadIdx.y / 2;
  const unsigned first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (unsigned first = 0; first < k; first += kDepth) {
    for (unsigned row = warp; row < 64; row += 8) {
      const unsigned i = first + lane;
      tile_x[row][lane] = first_row + row < m && i < k ? x[static_cast<size_t>(first_row + row) * k + i] : 0;
      tile_w[row][lane] =
          first_column + row < n && i < k ? w[static_cast<size_t>(first_column + row) * k + i] : 0;
    }
    __syncthreads();
    for (int i = 0; i < kDepth; i += 4) {
      float4 of_w[4];
      for (int c = 0; c < 4; ++c)
        of_w[c] = *reinterpret_cast<const float4*>(&tile_w[threadIdx.x + 16 * c][i]);
      for (int r = 0; r < 4; ++r) {
        const float4 of_x = *reinterpret_cast<const float4*>(&tile_x[threadIdx.y + 16 * r][i]);
        for (int c = 0; c < 4; ++c) sum[r][c] = dot(of_x, of_w[c], sum[r][c]);
      }
    }
    __syncthreads();
  }
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned c = 0; c < 4; ++c) {
      const unsigned row = first_row + threadIdx.y + 16 * r, column = first_column + threadIdx.x + 16 * c;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = sum[r][c];
    }
}

}  // namespace DEVICE::linear_register_tile
