/// \file
/// For all stages in float32: tiles of q, k, v and of the weights in shared memory, and the products of one
/// thread, as in stage 7 of chapter 05.
#pragma once
#include "problem.cuh"
#include "row_vectors.hpp"

namespace DEVICE::attention {

// [tile sizes]
/// A block has BM queries of one head and takes its keys BN at a time; each of its threads computes the
/// scores of TM queries and TN keys. The kThreadsAcross threads of the same queries are half of a warp.
constexpr int BM = 64, BN = 64, TM = 8, TN = 4;
constexpr int kThreadsAcross = BN / TN, kThreads = BM / TM * kThreadsAcross;
static_assert(BM == BN && kThreadsAcross == 16);
// [tile sizes]

/// A row of a transposed tile: one element of BM queries, or of BN keys, and a padding of 16 bytes.
using TileRow = float[BM + 4];

// [copy]
/// Copies the rows from `first` on of a matrix of rows x d into a tile, transposed: tile[i][r] is element i
/// of row first + r. Elements outside the matrix become 0. Two lanes load 32 bytes of a row.
template <int D>
__device__ inline void copy_transposed(TileRow* tile, const float* __restrict__ matrix, int first, int rows,
                                       int d) {
  const bool aligned = starts_vectors(matrix, d);
  const int r = threadIdx.x / 2;
#pragma unroll
  for (int i = threadIdx.x % 2 * 4; i < D; i += 8) {
    const float* from = matrix + static_cast<size_t>(first + r) * d + i;
    const float4 four = first + r < rows ? load_four(from, d - i, aligned) : float4{};
    tile[i][r] = four.x;
    tile[i + 1][r] = four.y;
    tile[i + 2][r] = four.z;
    tile[i + 3][r] = four.w;
  }
}

/// The same without transposing: tile[r][i].
template <int D>
__device__ inline void copy_rows(float (*tile)[D], const float* __restrict__ matrix, int first, int rows,
                                 int d) {
  const bool aligned = starts_vectors(matrix, d);
#pragma unroll
  for (int j = threadIdx.x; j < BN * D / 4; j += kThreads) {
    const int r = j / (D / 4), i = j % (D / 4) * 4;
    const float* from = matrix + static_cast<size_t>(first + r) * d + i;
    *reinterpret_cast<float4*>(&tile[r][i]) = first + r < rows ? load_four(from, d - i, aligned) : float4{};
  }
}
// [copy]
static_assert(kThreads == 2 * BM, "two threads copy a row");

// [score product]
/// s[r][c] = the product of query `row` + r and key `column` + c, from transposed tiles.
template <int D>
__device__ inline void multiply_q_k(float (&s)[TM][TN], const TileRow* q, const TileRow* k, int row,
                                    int column) {
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; ++c) s[r][c] = 0.0f;
#pragma unroll 8
  for (int i = 0; i < D; ++i) {
    float of_q[TM];
    load_two_fours(of_q, &q[i][row], 4);
    const float4 of_k = *reinterpret_cast<const float4*>(&k[i][column]);
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      s[r][0] += of_q[r] * of_k.x;
      s[r][1] += of_q[r] * of_k.y;
      s[r][2] += of_q[r] * of_k.z;
      s[r][3] += of_q[r] * of_k.w;
    }
  }
}
// [score product]

// [value product]
/// The elements of the result that a thread computes, of TM queries: four, and with D = 128 another four that
/// begin 64 elements later.
template <int D>
using Output = float[TM][D / kThreadsAcross];

/// o[r][..] += the weights of query `row` + r times v. The tile of weights is p[key][query].
template <int D>
__device__ inline void add_weighted_values(Output<D>& o, const TileRow* p, const float (*v)[D], int row,
                                           int column) {
#pragma unroll 8
  for (int j = 0; j < BN; ++j) {
    float of_p[TM];
    load_two_fours(of_p, &p[j][row], 4);
#pragma unroll
    for (int c = 0; c < D / kThreadsAcross; c += 4) {
      const float4 of_v = *reinterpret_cast<const float4*>(&v[j][16 * c + column]);
#pragma unroll
      for (int r = 0; r < TM; ++r) {
        o[r][c] += of_p[r] * of_v.x;
        o[r][c + 1] += of_p[r] * of_v.y;
        o[r][c + 2] += of_p[r] * of_v.z;
        o[r][c + 3] += of_p[r] * of_v.w;
      }
    }
  }
}

/// Stores a thread's elements of the result, each row multiplied by its factor. `o` is heads x queries x d.
template <int D>
__device__ inline void store_output(float* __restrict__ o, const Output<D>& of_thread, const float* factors,
                                    int first, int column, int queries, int d) {
  const bool aligned = starts_vectors(o, d);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int c = 0; c < D / kThreadsAcross; c += 4) {
      const float four[] = {of_thread[r][c] * factors[r], of_thread[r][c + 1] * factors[r],
                            of_thread[r][c + 2] * factors[r], of_thread[r][c + 3] * factors[r]};
      const int i = 16 * c + column;
      if (first + r < queries) store_four(o + static_cast<size_t>(first + r) * d + i, four, d - i, aligned);
    }
  }
}
// [value product]

// [place]
/// The work of a block and of a thread: a head, the block's first query, and the thread's first row and
/// column in a tile.
struct Place {
  int head, first, row, column;
  size_t q_start, k_start;  ///< where the head's rows begin in q and in k and v
};

__device__ inline Place place_of(Sizes s, int tile) {
  const int tiles = ceil_div(s.queries, BM), head = tile / tiles;
  return {head,
          tile % tiles * BM,
          static_cast<int>(threadIdx.x) / kThreadsAcross * TM,
          static_cast<int>(threadIdx.x) % kThreadsAcross * 4,
          static_cast<size_t>(head) * s.queries * s.d,
          static_cast<size_t>(s.key_head(head)) * s.keys * s.d};
}
// [place]

// --- On the host ---

/// Blocks, one per head and BM queries.
inline unsigned query_tiles(const Sizes& s) {
  return static_cast<unsigned>(s.heads) * static_cast<unsigned>(ceil_div(s.queries, BM));
}

/// Bytes of the arrays, each read once.
inline long long q_bytes(const Shape& s) { return 4 * q_elements(s); }
inline long long k_bytes(const Shape& s) { return 4 * k_elements(s); }

/// Bytes of k, or of v, that all blocks read when each reads all keys of its head.
inline long long tiled_k_bytes(const Shape& s) {
  return 4LL * s.dims[0] * ceil_div(s.dims[2], BM) * s.dims[3] * s.dims[4];
}

}  // namespace DEVICE::attention
