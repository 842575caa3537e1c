// tiles of 16 x 32 per warp, as in stage 9 of the chapter
#pragma once
#include "device.hpp"

namespace DEVICE::linear_register_tile {

constexpr int kDepth = 16, WM = 16, WN = 32;

__device__ inline int row_of_lane(int lane) { return (lane & 1) | (lane >> 1 & 2); }
__device__ inline int column_of_lane(int lane) { return (lane >> 1 & 1) | (lane >> 2 & 6); }

template <class Visit>
__device__ void for_each_element(Visit visit) {
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c) visit(r, c);
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  __shared__ __align__(16) float tile_x[kDepth][68];
  __shared__ __align__(16) float tile_w[kDepth][68];
  const int t = threadIdx.y * 16 + threadIdx.x, warp = t / 32, lane = t % 32;
  const int in_row = warp / 2 * WM + row_of_lane(lane) * 4,
            in_column = warp % 2 * WN + column_of_lane(lane) * 4;
  const int first_row = blockIdx.y * 64, first_column = blockIdx.x * 64;
  float acc[4][4] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int j = t; j < 64 * kDepth; j += 256) {
      const int row = j / kDepth, i = j % kDepth;
      const bool inside = first + i < k;
      tile_x[i][row] = inside && first_row + row < m ? x[(size_t)(first_row + row) * k + first + i] : 0.0f;
      tile_w[i][row] =
          inside && first_column + row < n ? w[(size_t)(first_column + row) * k + first + i] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&tile_x[i][in_row]);
      const float4 b = *reinterpret_cast<const float4*>(&tile_w[i][in_column]);
      const float of_x[4] = {a.x, a.y, a.z, a.w};
      const float of_w[4] = {b.x, b.y, b.z, b.w};
      for_each_element([&](int r, int c) { acc[r][c] += of_x[r] * of_w[c]; });
    }
    __syncthreads();
  }
  for_each_element([&](int r, int c) {
    const int row = first_row + in_row + r, column = first_column + in_column + c;
    if (row < m && column < n) product[(size_t)row * n + column] = acc[r][c];
  });
}

}  // namespace DEVICE::linear_register_tile
