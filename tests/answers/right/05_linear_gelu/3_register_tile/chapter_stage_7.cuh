// stage 7 of the chapter, with tiles of 64 x 64: transposed tiles and float4
#pragma once
#include "device.hpp"
#include "row_vectors.hpp"

namespace DEVICE::linear_register_tile {

constexpr int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4, kThreadsAcross = BN / TN;

using TileRow = float[BM + 4];

__device__ inline void store_transposed(TileRow* tile, int row, int i, float4 v) {
  tile[i][row] = v.x;
  tile[i + 1][row] = v.y;
  tile[i + 2][row] = v.z;
  tile[i + 3][row] = v.w;
}

__global__ void multiply(const float* __restrict__ x, const float* __restrict__ w,
                         float* __restrict__ product, int m, int k, int n) {
  alignas(16) __shared__ TileRow tile_x[BK], tile_w[BK];
  const int t = threadIdx.y * kThreadsAcross + threadIdx.x;
  const int in_row = t / kThreadsAcross * TM, in_column = t % kThreadsAcross * TN;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  const int load_row = t / 4, load_i = t % 4 * 4;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const bool aligned = starts_vectors(x, k) && starts_vectors(w, k);
  const float* my_x = x + static_cast<size_t>(first_row + load_row) * k + load_i;
  const float* my_w = w + static_cast<size_t>(first_column + load_row) * k + load_i;
  float acc[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
    const int left = k - first - load_i;
    store_transposed(tile_x, load_row, load_i, has_x ? load_four(my_x + first, left, aligned) : float4{});
    store_transposed(tile_w, load_row, load_i, has_w ? load_four(my_w + first, left, aligned) : float4{});
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&tile_x[i][in_row]);
      const float4 b = *reinterpret_cast<const float4*>(&tile_w[i][in_column]);
      const float of_x[] = {a.x, a.y, a.z, a.w}, of_w[] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
    }
    __syncthreads();
  }
  const bool whole = starts_vectors(product, n);
  const int column = first_column + in_column;
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
    if (row < m) store_four(product + static_cast<size_t>(row) * n + column, acc[r], n - column, whole);
  }
}

}  // namespace DEVICE::linear_register_tile
