/// \file
/// Stage 1: the weights of attention in three kernels: the product of q and k, its scaling, and the softmax
/// of each row. The scores go through memory between them.
#pragma once
#include "sums.hpp"
#include "tiles.cuh"

namespace DEVICE::attention {

/// The transposed tiles of q and k, in dynamic shared memory: 34 or 68 KiB.
template <int D>
struct ScoreTiles {
  TileRow q[D], k[D];
};

// [scores]
/// scores[h][i][j] = scale * (q[h][i] * k[key_head(h)][j]), where d is at most D. One block of kThreads
/// threads per head and tile of BM x BN scores. Traffic: each block reads 4 d bytes per query and per key,
/// and writes 4 bytes per score.
template <int D>
__global__ void __launch_bounds__(kThreads) multiply(const float* __restrict__ q, const float* __restrict__ k,
                                                     float* __restrict__ scores, Sizes s, float scale) {
  auto& tiles = *dynamic_shared<ScoreTiles<D>>();
  const int key_tiles = ceil_div(s.keys, BN), first_key = blockIdx.x % key_tiles * BN;
  const Place at = place_of(s, blockIdx.x / key_tiles);
  copy_transposed<D>(tiles.q, q + at.q_start, at.first, s.queries, s.d);
  copy_transposed<D>(tiles.k, k + at.k_start, first_key, s.keys, s.d);
  __syncthreads();
  float of_thread[TM][TN];
  multiply_q_k<D>(of_thread, tiles.q, tiles.k, at.row, at.column);
  const bool aligned = starts_vectors(scores, s.keys);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int query = at.first + at.row + r, key = first_key + at.column;
#pragma unroll
    for (int c = 0; c < TN; ++c) of_thread[r][c] *= scale;
    if (query < s.queries)
      store_four(scores + (static_cast<size_t>(at.head) * s.queries + query) * s.keys + key, of_thread[r],
                 s.keys - key, aligned);
  }
}
// [scores]

/// Multiplies n scores by `scale`, where they are. Traffic: reads and writes 4 bytes per score.
__global__ void multiply_by(float* __restrict__ scores, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) scores[i] *= scale;
}

// [softmax]
/// p[r] = softmax(scores[r]), one block of whole warps per row of `keys` scores; p may be `scores`. The row's
/// maximum is subtracted, so no exponential is larger than 1. Traffic: reads a row three times, of which
/// twice from a cache, and writes it once.
__global__ void softmax_rows(const float* scores, float* p, int keys) {
  const float* row = scores + static_cast<size_t>(blockIdx.x) * keys;
  float* out = p + static_cast<size_t>(blockIdx.x) * keys;
  float most = -INFINITY;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) most = fmaxf(most, row[j]);
  most = block_max_by_warps(most);
  float sum = 0.0f;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) sum += expf(row[j] - most);
  sum = block_sum_by_warps(sum);
  for (int j = threadIdx.x; j < keys; j += blockDim.x) out[j] = expf(row[j] - most) / sum;
}
// [softmax]

// --- On the host ---

constexpr int kSoftmaxThreads = 256;

/// scores = scale * q * k^T, for all heads.
inline void launch_multiply(const Data& data, float scale) {
  const auto a = operands<float>(data);
  const unsigned blocks = query_tiles(a.sizes) * static_cast<unsigned>(ceil_div(a.sizes.keys, BN));
  if (a.sizes.d <= 64)
    launch_shared(multiply<64>, blocks, kThreads, sizeof(ScoreTiles<64>), a.q, a.k, data[kScores], a.sizes,
                  scale);
  else
    launch_shared(multiply<128>, blocks, kThreads, sizeof(ScoreTiles<128>), a.q, a.k, data[kScores], a.sizes,
                  scale);
}

/// Blocks read the queries again for each tile of keys, and the keys for each tile of queries.
inline Traffic multiply_traffic(const Shape& s) {
  const long long of_q = q_bytes(s) * ceil_div(s.dims[3], BN), of_k = tiled_k_bytes(s);
  return {of_q + of_k, 4 * all_scores(s), of_q - q_bytes(s) + repeated(of_k, k_bytes(s))};
}

inline void launch_softmax(const Data& data, float* p) {
  launch(softmax_rows, static_cast<unsigned>(rows(data.shape)), kSoftmaxThreads, data[kScores], p,
         data.shape.dims[3]);
}

inline Traffic softmax_traffic(const Shape& s) {
  return {12 * all_scores(s), 4 * all_scores(s), 8 * all_scores(s)};
}

struct Unfused {
  static constexpr Stage row =
      kWeights<Full>.with({.name = "01_unfused",
                           .idea = "weights: product, scale and softmax, three kernels",
                           .kernels = 3,
                           .needs = "d of at most 128; at most 2^28 scores"});
  static void run(const Data& data) {
    const int n = static_cast<int>(all_scores(data.shape));
    launch_multiply(data, 1.0f);
    launch(multiply_by, ceil_div(n, 256), 256, data[kScores], n, scale_of(data.shape.dims[4]));
    launch_softmax(data, data[kP<Full>]);
  }
  static Traffic traffic(const Shape& s) {
    return multiply_traffic(s) + Traffic{4 * all_scores(s), 4 * all_scores(s)} + softmax_traffic(s);
  }
  static bool suits(const Shape& s) { return rows_fit(s) && scores_are_compared(s); }
};

}  // namespace DEVICE::attention
