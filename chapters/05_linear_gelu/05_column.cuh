/// \file
/// Stage 5: each thread computes eight elements, one below the other. Shared memory is the limit now, so this
/// saves one of its two loads per multiplication: one element of w serves all eight.
#pragma once
#include "problem.cuh"

namespace DEVICE::linear_gelu {

/// A block computes BM x BN elements and goes along k in steps of BK; a thread computes TM elements.
struct ColumnTile {
  static constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
  static constexpr int kThreads = BM * BN / TM;
};

/// product = x * w^T, matrices as in stage 1: any m, k and n. A block of ColumnTile::kThreads threads per
/// tile of BM x BN. Reads 4mnk(1/BM + 1/BN) bytes.
__global__ void product_by_columns(const float* __restrict__ x, const float* __restrict__ w,
                                   float* __restrict__ product, int m, int k, int n) {
  constexpr int BM = ColumnTile::BM, BN = ColumnTile::BN, BK = ColumnTile::BK, TM = ColumnTile::TM;
  __shared__ float tile_x[BM][BK], tile_w[BN][BK + 1];
  const int t = threadIdx.x, load_row = t / BK, load_i = t % BK;
  const int x_row = blockIdx.y * BM + load_row, w_row = blockIdx.x * BN + load_row;
  const int in_column = t % BN, in_row = t / BN * TM;
  float acc[TM] = {};
  for (int first = 0; first < k; first += BK) {
    const int i = first + load_i;
    tile_x[load_row][load_i] = x_row < m && i < k ? x[static_cast<size_t>(x_row) * k + i] : 0.0f;
    tile_w[load_row][load_i] = w_row < n && i < k ? w[static_cast<size_t>(w_row) * k + i] : 0.0f;
    __syncthreads();
    // [multiply]
#pragma unroll
    for (int j = 0; j < BK; ++j) {
      const float of_w = tile_w[in_column][j];
#pragma unroll
      for (int r = 0; r < TM; ++r) acc[r] += tile_x[in_row + r][j] * of_w;
    }
    // [multiply]
    __syncthreads();
  }
  const int column = blockIdx.x * BN + in_column;
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = blockIdx.y * BM + in_row + r;
    if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = acc[r];
  }
}

// --- On the host ---

struct Column {
  static constexpr Stage row =
      kComputesProduct.with({.name = "05_column", .idea = "eight elements per thread, one below the other"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(product_by_columns, by_tiles(a, ColumnTile::BM, ColumnTile::BN), ColumnTile::kThreads, a.x, a.w,
           data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tiled(s, ColumnTile::BM, ColumnTile::BN); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
