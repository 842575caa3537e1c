/// \file
/// Stage 2: the weights of attention in one kernel. A block computes whole rows of scores and keeps them in
/// registers until their softmax is known. With a mask: stage 3.
#pragma once
#include "row_vectors.hpp"
#include "sums.hpp"
#include "tiles.cuh"

namespace DEVICE::attention {

// [row sizes]
/// A block has kRowQueries queries and all keys, up to 8 per thread of the `kAcross` threads of the same
/// queries: whole warps. It goes along d in steps of kStep elements.
constexpr int kRowQueries = 32, kStep = 8, kRowGroups = kRowQueries / TM;
// [row sizes]

/// The tile of q or of k at one step, transposed; the padding as in TileRow.
template <int Rows>
using StepTile = float[kStep][Rows + 4];

// [step part]
/// The part of a step of Rows rows that one of `Threads` threads copies. It is in registers from load() to
/// store(): the loads of the next step are in flight while this one is multiplied.
template <int Rows, int Threads>
struct StepPart {
  static constexpr int kFours = ceil_div(2 * Rows, Threads);
  float4 fours[kFours];

  /// Loads from kStep elements, from `start` on, of the rows from `first` on; zeros beyond the matrix.
  __device__ void load(const float* __restrict__ matrix, int first, int rows, int start, int d) {
    const bool aligned = starts_vectors(matrix, d);
#pragma unroll
    for (int f = 0; f < kFours; ++f) {
      const int j = threadIdx.x + f * Threads, r = j / 2, i = j % 2 * 4;
      const float* from = matrix + static_cast<size_t>(first + r) * d + start + i;
      fours[f] = j < 2 * Rows && first + r < rows ? load_four(from, d - start - i, aligned) : float4{};
    }
  }

  /// Stores them as columns of the tile.
  __device__ void store(StepTile<Rows>& tile) const {
#pragma unroll
    for (int f = 0; f < kFours; ++f) {
      const int j = threadIdx.x + f * Threads, r = j / 2, i = j % 2 * 4;
      if (j >= 2 * Rows) break;
      tile[i][r] = fours[f].x;
      tile[i + 1][r] = fours[f].y;
      tile[i + 2][r] = fours[f].z;
      tile[i + 3][r] = fours[f].w;
    }
  }
};
// [step part]

// [across]
/// values[r] = op over all kAcross threads of the same queries, for each of the TM queries. `op` also works
/// on a whole warp.
template <int kAcross, class WarpOp, class Op>
__device__ inline void across(float (&values)[TM], WarpOp of_warp, Op op) {
  constexpr int kWarps = kAcross / 32;
#pragma unroll
  for (int r = 0; r < TM; ++r) values[r] = of_warp(values[r]);
  if constexpr (kWarps > 1) {
    __shared__ float of_warps[kRowGroups][kWarps][TM];
    const int group = threadIdx.x / kAcross, warp = threadIdx.x % kAcross / 32;
    __syncthreads();  // every thread has read the values of an earlier call
    if (threadIdx.x % 32 == 0)
#pragma unroll
      for (int r = 0; r < TM; ++r) of_warps[group][warp][r] = values[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      values[r] = of_warps[group][0][r];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) values[r] = op(values[r], of_warps[group][w][r]);
    }
  }
}
// [across]

// [one kernel]
/// p[h][i] = softmax over the keys that query i sees of scale * (q[h][i] * k[key_head(h)][j]), for up to
/// 8 * kAcross keys and any d. One block of kRowGroups * kAcross threads per head and kRowQueries queries.
/// Traffic: each block reads 4 d bytes per query and per key, and writes 4 bytes per weight.
template <class Mask, int kAcross>
__global__ void __launch_bounds__(kRowGroups* kAcross)
    weights_in_one_kernel(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ p,
                          Sizes s, float scale) {
  constexpr int kKeys = 8 * kAcross, kThreads = kRowGroups * kAcross;
  __shared__ alignas(16) StepTile<kRowQueries> tile_q;
  __shared__ alignas(16) StepTile<kKeys> tile_k;
  const int tiles = ceil_div(s.queries, kRowQueries), head = blockIdx.x / tiles;
  const int first = blockIdx.x % tiles * kRowQueries, row = threadIdx.x / kAcross * TM;
  const int column = threadIdx.x % kAcross * 4;
  const float* my_q = q + static_cast<size_t>(head) * s.queries * s.d;
  const float* my_k = k + static_cast<size_t>(s.key_head(head)) * s.keys * s.d;
  StepPart<kRowQueries, kThreads> next_q;
  StepPart<kKeys, kThreads> next_k;
  next_q.load(my_q, first, s.queries, 0, s.d);
  next_k.load(my_k, 0, s.keys, 0, s.d);
  float scores[TM][8] = {};
  for (int start = 0; start < s.d; start += kStep) {
    next_q.store(tile_q);
    next_k.store(tile_k);
    __syncthreads();
    if (start + kStep < s.d) {
      next_q.load(my_q, first, s.queries, start + kStep, s.d);
      next_k.load(my_k, 0, s.keys, start + kStep, s.d);
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      float of_q[TM], of_k[8];
      load_two_fours(of_q, &tile_q[i][row], 4);
      load_two_fours(of_k, &tile_k[i][column], kKeys / 2);
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c) scores[r][c] += of_q[r] * of_k[c];
    }
    __syncthreads();
  }

  const auto key = [&](int c) { return column + c % 4 + c / 4 * (kKeys / 2); };
  float most[TM], sum[TM];
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int visible = Mask::visible(s, first + row + r);
    most[r] = -INFINITY;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      scores[r][c] = key(c) < visible ? scores[r][c] * scale : -INFINITY;
      most[r] = fmaxf(most[r], scores[r][c]);
    }
  }
  across<kAcross>(most, warp_max, fmaxf);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const float base = most[r] == -INFINITY ? 0.0f : most[r];  // a query that sees no key
    sum[r] = 0.0f;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      scores[r][c] = expf(scores[r][c] - base);
      sum[r] += scores[r][c];
    }
  }
  across<kAcross>(sum, warp_sum, [](float a, float b) { return a + b; });
  const bool aligned = starts_vectors(p, s.keys);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int query = first + row + r;
    const float factor = sum[r] == 0.0f ? 0.0f : 1.0f / sum[r];
#pragma unroll
    for (int c = 0; c < 8; ++c) scores[r][c] *= factor;
#pragma unroll
    for (int c = 0; c < 8; c += 4)
      if (query < s.queries)
        store_four(p + (static_cast<size_t>(head) * s.queries + query) * s.keys + key(c), &scores[r][c],
                   s.keys - key(c), aligned);
  }
}
// [one kernel]

// --- On the host ---

constexpr int kMostKeys = 1024;

/// Threads of a block that share the keys of each query.
inline int threads_across(const Sizes& s) { return s.keys <= 256 ? 32 : s.keys <= 512 ? 64 : 128; }

template <class Mask>
struct OneKernel {
  static constexpr Stage row =
      kWeights<Mask>.with({.name = Mask::kCausal ? "03_mask" : "02_one_kernel",
                           .idea = Mask::kCausal ? "weights: the causal mask fused as well"
                                                 : "weights: a row's scores stay in registers",
                           .needs = "at most 1024 keys and 2^28 scores"});
  static void run(const Data& data) {
    const auto a = operands<float>(data);
    const int across = threads_across(a.sizes);
    const auto kernel = across == 32   ? weights_in_one_kernel<Mask, 32>
                        : across == 64 ? weights_in_one_kernel<Mask, 64>
                                       : weights_in_one_kernel<Mask, 128>;
    const unsigned tiles = static_cast<unsigned>(ceil_div(a.sizes.queries, kRowQueries));
    launch(kernel, static_cast<unsigned>(a.sizes.heads) * tiles, kRowGroups * across, a.q, a.k,
           data[kP<Mask>], a.sizes, a.scale);
  }
  static Traffic traffic(const Shape& s) {
    const long long of_k = 4LL * s.dims[0] * ceil_div(s.dims[2], kRowQueries) * s.dims[3] * s.dims[4];
    return {q_bytes(s) + of_k, 4 * all_scores(s), repeated(of_k, k_bytes(s))};
  }
  static bool suits(const Shape& s) { return s.dims[3] <= kMostKeys && scores_are_compared(s); }
};

}  // namespace DEVICE::attention
