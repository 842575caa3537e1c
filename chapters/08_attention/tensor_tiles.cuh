/// \file
/// For the stages in bfloat16: sizes, tiles in shared memory, and the softmax of a row that two lanes share.
#pragma once
#include "problem.cuh"
#include "row_vectors.hpp"

namespace DEVICE::attention {

// [half sizes]
/// A block has kHalfQueries queries of one head, kFragment per warp, and takes their keys kHalfKeys at a
/// time.
constexpr int kHalfQueries = 64, kHalfKeys = 64, kFragment = 16;
constexpr int kHalfWarps = kHalfQueries / kFragment, kHalfThreads = 32 * kHalfWarps;

/// A row of q, k or v. With 16 bytes of padding, eight successive rows at the same element are in different
/// banks.
template <int D>
using HalfRow = __nv_bfloat16[D + 8];
// [half sizes]

/// Copies one tile of rows, from row `first` on, of a matrix of rows x d. Elements outside the matrix become
/// 0.
template <int D>
__device__ inline void copy_half_rows(HalfRow<D>* tile, const __nv_bfloat16* __restrict__ matrix, int first,
                                      int rows, int d) {
  const bool aligned = starts_vectors(matrix, d);
#pragma unroll
  for (int j = threadIdx.x; j < kHalfKeys * D / 8; j += kHalfThreads) {
    const int r = j / (D / 8), i = j % (D / 8) * 8;
    const __nv_bfloat16* from = matrix + static_cast<size_t>(first + r) * d + i;
    *reinterpret_cast<uint4*>(&tile[r][i]) = first + r < rows ? load_eight(from, d - i, aligned) : uint4{};
  }
}
static_assert(kHalfQueries == kHalfKeys, "the tile of q is copied as those of k and v are");

/// The work of a block: a head of q, its first query, one past the last key that one of its queries sees, and
/// where the head's rows begin in q and in k and v.
struct HalfPlace {
  int head, first, end;
  size_t q_start, k_start;
};

/// With a mask, the last tile of every head first, as in stage 9.
template <class Mask>
__device__ inline HalfPlace half_place_of(Sizes s, int block) {
  const int tiles = ceil_div(s.queries, kHalfQueries);
  const int head = Mask::kCausal ? block % s.heads : block / tiles;
  const int tile = Mask::kCausal ? tiles - 1 - block / s.heads : block % tiles;
  const int last = (tile + 1) * kHalfQueries - 1;
  return {head, tile * kHalfQueries, Mask::visible(s, last < s.queries ? last : s.queries - 1),
          static_cast<size_t>(head) * s.queries * s.d, static_cast<size_t>(s.key_head(head)) * s.keys * s.d};
}

// [half softmax]
/// LazySoftmax for one row, whose scores two neighbouring lanes share.
struct HalfSoftmax {
  static constexpr float kGrowth = 8.0f;
  float c, base, sum;

  __device__ explicit HalfSoftmax(float scale) : c(scale * 1.44269504f), base(-INFINITY), sum(0.0f) {}

  /// Takes the next scores into account. \returns what the outputs so far must be multiplied by
  template <int kScores>
  __device__ float next_base(const float (&scores)[kScores]) {
    float largest = scores[0];
#pragma unroll
    for (int j = 1; j < kScores; ++j) largest = fmaxf(largest, scores[j]);
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
    if (!(c * largest > c * base + kGrowth)) return 1.0f;
    const float factor = base == -INFINITY ? 1.0f : exp2f(c * (base - largest));
    base = largest;
    sum *= factor;
    return factor;
  }

  /// Turns the scores into weights relative to the base, and adds them up.
  template <int kScores>
  __device__ void to_weights(float (&scores)[kScores]) {
    const float offset = base == -INFINITY ? 0.0f : c * base;
#pragma unroll
    for (int j = 0; j < kScores; ++j) {
      scores[j] = exp2f(fmaf(c, scores[j], -offset));
      sum += scores[j];
    }
  }

  /// 1 / the sum of all weights, or 0 for a query that saw no key.
  __device__ float factor() const {
    const float all = sum + __shfl_xor_sync(0xffffffffu, sum, 1);
    return all > 0.0f ? 1.0f / all : 0.0f;
  }
};
// [half softmax]

// --- On the host ---

/// Blocks, one per head and kHalfQueries queries.
inline unsigned half_tiles(const Sizes& s) {
  return static_cast<unsigned>(s.heads) * static_cast<unsigned>(ceil_div(s.queries, kHalfQueries));
}

/// Each block has `queries` queries, the first one's from `begin` on, and reads the tiles, of `tile_keys`
/// rows of k and v, that they see.
template <class Mask>
Traffic half_flash_traffic(const Shape& s, int queries, int tile_keys, int begin = 0) {
  long long keys = 0;  // read by the blocks of one head
  for (int first = begin; first < s.dims[2]; first += queries) {
    const int last = first + queries - 1;
    const int end = Mask::visible(sizes(s), last < s.dims[2] ? last : s.dims[2] - 1);
    const int tiles_end = (end + tile_keys - 1) / tile_keys * tile_keys;
    keys += tiles_end < s.dims[3] ? tiles_end : s.dims[3];
  }
  const long long of_k = 2LL * s.dims[0] * keys * s.dims[4], q = 2 * q_elements(s), k = 2 * k_elements(s);
  return {q + 2 * of_k, q, 2 * repeated(of_k, k)};
}

}  // namespace DEVICE::attention
