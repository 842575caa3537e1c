/// \file
/// For all stages with tiles of 128 x 128: sizes, transposed tiles in shared memory, and the products
/// of one thread.
#pragma once
#include "problem.cuh"
#include "row_vectors.hpp"

namespace DEVICE::linear_gelu {

// [sizes]
/// A block computes BM x BN elements of the result and goes along k in steps of BK; each of its threads
/// computes TM x TN elements.
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int kThreadsAcross = BN / TN, kThreads = BM / TM * kThreadsAcross;
static_assert(BM == BN, "a block copies the tile of w as it copies that of x");
// [sizes]

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

// [products]
/// acc += of_x * of_w^T.
__device__ inline void add_products(float (&acc)[TM][TN], const float (&of_x)[TM], const float (&of_w)[TN]) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) acc[r][c] += of_x[r] * of_w[c];
}
// [products]

// --- On the host ---

inline bool is_aligned(const float* array) { return reinterpret_cast<size_t>(array) % 16 == 0; }

/// Whether all rows of x and w start at multiples of 16 bytes.
inline bool has_aligned_rows(const Arrays& a) { return a.k % 4 == 0 && is_aligned(a.x) && is_aligned(a.w); }

/// Whether no tile is partial, two of them along k included, and every row starts at a multiple of 16 bytes.
inline bool has_whole_tiles(const Arrays& a, const float* result) {
  return a.m % BM == 0 && a.n % BN == 0 && a.k % (2 * BK) == 0 && has_aligned_rows(a) && is_aligned(result);
}

inline Traffic tile_traffic(const Shape& s) { return tiled(s, BM, BN); }

}  // namespace DEVICE::linear_gelu
