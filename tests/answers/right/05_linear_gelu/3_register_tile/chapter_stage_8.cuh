// stage 8 of the chapter, with tiles of 64 x 64: asynchronous copies into a second pair of tiles
#pragma once
#include "device.hpp"
#include "row_vectors.hpp"

namespace DEVICE::linear_register_tile {

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4, kThreads = 256;

using TileRow = float[BM + 4];

struct TileSource {
  const float* mine;
  int rows, k, t;
  __device__ TileSource(const float* matrix, int first_row, int all_rows, int all_k, int t) : t(t) {
    const int row = first_row + t / BK;
    mine = matrix + static_cast<size_t>(row) * all_k + t % BK;
    rows = all_rows - row;
    k = all_k;
  }
  __device__ void copy(TileRow* tile, int first) const {
#pragma unroll
    for (int j = 0; j < BM; j += kThreads / BK) {
      const bool inside = j < rows && first + t % BK < k;
      __pipeline_memcpy_async(&tile[t % BK][t / BK + j], mine + static_cast<size_t>(j) * k + first,
                              sizeof(float), inside ? 0 : sizeof(float));
    }
  }
};

__global__ void __launch_bounds__(kThreads, 2)
    multiply(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product, int m,
             int k, int n) {
  alignas(16) __shared__ TileRow tile_x[2][BK], tile_w[2][BK];
  const int t = threadIdx.y * 16 + threadIdx.x, in_row = t / 16 * TM, in_column = t % 16 * TN;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  const TileSource of_x_rows(x, first_row, m, k, t), of_w_rows(w, first_column, n, k, t);
  const auto copy = [&](int buffer, int first) {
    if (first < k) {
      of_x_rows.copy(tile_x[buffer], first);
      of_w_rows.copy(tile_w[buffer], first);
    }
    __pipeline_commit();
  };
  copy(0, 0);
  float acc[TM][TN] = {};
  for (int first = 0, buffer = 0; first < k; first += BK, buffer ^= 1) {
    __pipeline_wait_prior(0);
    __syncthreads();
    copy(buffer ^ 1, first + BK);
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      const float4 a = *reinterpret_cast<const float4*>(&tile_x[buffer][i][in_row]);
      const float4 b = *reinterpret_cast<const float4*>(&tile_w[buffer][i][in_column]);
      const float of_x[] = {a.x, a.y, a.z, a.w}, of_w[] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
    }
  }
  const bool aligned = starts_vectors(product, n);
  const int column = first_column + in_column;
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
    if (row < m) store_four(product + static_cast<size_t>(row) * n + column, acc[r], n - column, aligned);
  }
}

}  // namespace DEVICE::linear_register_tile
