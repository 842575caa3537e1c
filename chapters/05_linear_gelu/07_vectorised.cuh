/// \file
/// Stage 7: loads of 16 bytes, from device memory and from shared memory. For the latter, the tiles are
/// stored transposed, so that the eight elements of x that a thread needs are contiguous, and twice four of
/// w.
#pragma once
#include "06_square.cuh"
#include "row_vectors.hpp"

namespace DEVICE::linear_gelu {

// [transposed]
/// A row of a transposed tile: the elements of all BM rows (or BN columns) at one i < BK, and a padding of 16
/// bytes.
using TileRow = float[BM + 4];

/// Stores elements i to i + 3 of a row into a transposed tile.
__device__ inline void store_transposed(TileRow* tile, int row, int i, float4 v) {
  tile[i][row] = v.x;
  tile[i + 1][row] = v.y;
  tile[i + 2][row] = v.z;
  tile[i + 3][row] = v.w;
}
// [transposed]

/// product = x * w^T, matrices as in stage 1: any m, k and n. `Aligned` promises that all rows of x and w
/// start at multiples of 16 bytes. Tiles and blocks as in stage 6. A thread computes eight rows, and four
/// columns in each half of the tile, so that the lanes' loads of w are contiguous. Traffic: that of stage 6.
template <bool Aligned>
__global__ void __launch_bounds__(kThreads)
    product_by_vectors(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ product,
                       int m, int k, int n) {
  alignas(16) __shared__ TileRow tile_x[BK], tile_w[BK];
  const int t = threadIdx.x, in_row = t / kThreadsAcross * TM, in_column = t % kThreadsAcross * 4;
  const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
  const int load_row = t / 2, load_i = t % 2 * 4;
  const bool has_x = first_row + load_row < m, has_w = first_column + load_row < n;
  const float* my_x = x + static_cast<size_t>(first_row + load_row) * k + load_i;
  const float* my_w = w + static_cast<size_t>(first_column + load_row) * k + load_i;
  float acc[TM][TN] = {};
  // [loop]
  for (int first = 0; first < k; first += BK) {
    const int left = k - first - load_i;
    store_transposed(tile_x, load_row, load_i, has_x ? load_four(my_x + first, left, Aligned) : float4{});
    store_transposed(tile_w, load_row, load_i, has_w ? load_four(my_w + first, left, Aligned) : float4{});
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float of_x[TM], of_w[TN];
      load_two_fours(of_x, &tile_x[i][in_row], 4);
      load_two_fours(of_w, &tile_w[i][in_column], BN / 2);
      add_products(acc, of_x, of_w);
    }
    __syncthreads();
  }
  // [loop]
  const bool aligned = starts_vectors(product, n);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int row = first_row + in_row + r;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first_column + half * BN / 2 + in_column;
      if (row < m)
        store_four(product + static_cast<size_t>(row) * n + column, &acc[r][half * 4], n - column, aligned);
    }
  }
}

// --- On the host ---

/// Whether all rows of x and w start at multiples of 16 bytes.
inline bool has_aligned_rows(const Factors& a) { return a.k % 4 == 0 && are_aligned(a.x, a.w); }

inline Traffic tile_traffic(const Shape& s) { return tiled(s, BM, BN); }

struct Vectorised {
  static constexpr Stage row =
      kComputesProduct.with({.name = "07_vectorised", .idea = "loads of 16 bytes, tiles transposed"});
  static void run(const Data& data) {
    const Factors a = factors(data);
    launch(has_aligned_rows(a) ? product_by_vectors<true> : product_by_vectors<false>, by_tiles(a, BM, BN),
           kThreads, a.x, a.w, data[kProduct], a.m, a.k, a.n);
  }
  static Traffic traffic(const Shape& s) { return tile_traffic(s); }
  static bool suits(const Shape& s) { return up_to_2_38(s); }
};

}  // namespace DEVICE::linear_gelu
