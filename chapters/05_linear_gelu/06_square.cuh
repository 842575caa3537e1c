/// \file
/// Stage 6: each thread computes a tile of 8 x 8 elements, with 16 loads from shared memory for 64
/// multiplications. Neighbouring threads have neighbouring thread tiles, and their loads of w conflict: they
/// hit the same banks.
#pragma once
#include "problem.cuh"

namespace DEVICE::linear_gelu {

// [sizes]
/// A block computes BM x BN elements of the result and goes along k in steps of BK; each of its threads
/// computes TM x TN elements.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int kThreadsAcross = BN / TN, kThreads = BM / TM * kThreadsAcross;
static_assert(BM == BN, "a block copies the tile of w as it copies that of x");
// [sizes]

// [products]
/// acc += of_x * of_w^T.
__device__ inline void add_products(float (&acc)[TM][TN], const float (&of_x)[TM], const float (&of_w)[TN]) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
}
// [products]

/// product = x * w^T, matrices as in stage 1: any m, k and n. A block of kThreads threads per tile of BM x
/// BN. Reads 4mnk(1/BM + 1/BN) bytes.
__global__ void __launch_bounds__(kThreads)
    product_by_thread_tiles(const float* __restrict__ x, const float* __restrict__ w,
                            float* __restrict__ product, int m, int k, int n) {
  // [shared]
  __shared__ float tile_x[BM][BK + 1], tile_w[BN][BK + 1];
  const int t = threadIdx.x, in_column = t % kThreadsAcross * TN, in_row = t / kThreadsAcross * TM;
  // [shared]
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
#pragma unroll
    for (int j = t; j < BM * BK; j += kThreads) {
      const int row = j / BK, i = j % BK;
      const bool inside = first + i < k;
      tile_x[row][i] =
          inside && first_row + row < m ? x[static_cast<size_t>(first_row + row) * k + first + i] : 0.0f;
      tile_w[row][i] = inside && first_column + row < n
                           ? w[static_cast<size_t>(first_column + row) * k + first + i]
                           : 0.0f;
    }
    __syncthreads();
    // [multiply]
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float of_x[TM], of_w[TN];
#pragma unroll
      for (int j = 0; j < TM; ++j) of_x[j] = tile_x[in_row + j][i];
#pragma unroll
      for (int j = 0; j < TN; ++j) of_w[j] = tile_w[in_column + j][i];
      add_products(acc, of_x, of_w);
    }
    // [multiply]
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int c = 0; c < TN; ++c) {
      const int column = first_column + in_column + c;
      if (row < m && column < n) product[static_cast<size_t>(row) * n + column] = acc[r][c];
    }
  }
}

// --- On the host ---

struct Square {
  static constexpr Stage row =
      kComputesProduct.with({.name = "06_square", .idea = "8 x 8 elements per thread"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(product_by_thread_tiles, by_tiles(a, BM, BN), kThreads, a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  /// A thread's eight results in a row are contiguous, so a store of one of them per lane touches a sector
  /// for each lane.
  static Traffic traffic(const Shape& s) {
    return product_traffic(s, tile_read_bytes(s, BM, BN), 32 * y_elements(s));
  }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
