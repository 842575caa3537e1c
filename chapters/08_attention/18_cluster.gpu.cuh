/// \file
/// Stage 18: the weights in float32 again. In stage 2 a block has whole rows, so its tile of scores has only
/// 32 of them, and it loads all keys of a head for those. Here a cluster of up to four blocks shares the
/// rows. Each block keeps its part of the head's keys in shared memory while the queries go by, and the
/// blocks tell each other the maximum and the sum of their part of a row. Compute capability 9.0.
#pragma once
#include "tiles.cuh"
#ifdef WORKBOOK_GPU
#include <cooperative_groups.h>

#include "exp2.gpu.cuh"
#include "hopper.sm90a.cuh"
#include "row_vectors.hpp"
#endif

namespace DEVICE::attention {

#ifdef WORKBOOK_GPU
// [cluster tiles]
/// Of 128 keys in a row of scores: the largest exponent of two, and the sum of the powers relative to it.
struct RowPart {
  float base, sum;
};

/// The shared memory of a block: its keys and the queries, both transposed, and what the cluster's blocks say
/// of each row. Two sets of parts suffice: a warp sends those of the next tile but one when it has those of
/// the next, which every warp sends after it has read those of this one.
struct ClusterTiles {
  static constexpr int kD = 64, kQueries = 64, kKeys = 256, kMostBlocks = 4, kThreads = 256;
  static constexpr int kPartKeys = 128, kMostParts = kMostBlocks * kKeys / kPartKeys;
  alignas(16) float k[kD][kKeys + 4];
  alignas(16) float q[kD][kQueries + 4];
  RowPart parts[2][kMostParts][kQueries];
  Barrier told[2];  // all parts of the rows are there
};
// [cluster tiles]

// [transposed copy]
/// Starts the copy of the rows from `first` on of a matrix of rows x d, as columns of the tile, element by
/// element. Eight lanes copy 32 bytes of a row, and a warp's 32 elements go to different banks. Elements
/// outside the matrix become 0.
template <int Rows>
__device__ inline void copy_columns(float (&tile)[ClusterTiles::kD][Rows + 4],
                                    const float* __restrict__ matrix, int first, int rows, int d) {
  const int i = threadIdx.x % 8, r = threadIdx.x / 8;
  const float* from = matrix + static_cast<size_t>(first + r) * d + i;
  const unsigned to = shared_address(&tile[i][r]);
#pragma unroll
  for (int down = 0; down < Rows; down += ClusterTiles::kThreads / 8, from += ClusterTiles::kThreads / 8 * d)
#pragma unroll
    for (int along = 0; along < ClusterTiles::kD; along += 8) {
      const bool inside = first + down + r < rows && along + i < d;
      cp_async_4(to + (along * (Rows + 4) + down) * sizeof(float), inside ? from + along : matrix,
                 inside ? 4 : 0);
    }
}
// [transposed copy]

// [sixteen lanes]
/// values[r] = op over the 16 lanes that share the rows. The rows go side by side: one waits for a shuffle
/// while the others are computed.
template <class Op>
__device__ inline void across_sixteen(float (&values)[TM], Op op) {
#pragma unroll
  for (int apart = 8; apart > 0; apart /= 2)
#pragma unroll
    for (int r = 0; r < TM; ++r) values[r] = op(values[r], __shfl_xor_sync(0xffffffffu, values[r], apart));
}
// [sixteen lanes]

/// values[2 * pair + x], from registers.
__device__ inline float of_pair(const float (&values)[TM], int pair, int x) {
  const float low = pair % 2 == 0 ? values[x] : values[2 + x];
  const float high = pair % 2 == 0 ? values[4 + x] : values[6 + x];
  return pair < 2 ? low : high;
}

/// Replaces this thread's scores of a part of eight rows, which 16 lanes share: scores[r][j] becomes
/// 2^(c * score - base[r]), where base[r] is the largest exponent of the part in row r. sum[r] is the sum of
/// all lanes' powers in that row.
__device__ inline void powers_of_part(float (&scores)[TM][8], float c, float (&base)[TM], float (&sum)[TM]) {
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    base[r] = scores[r][0];
#pragma unroll
    for (int j = 1; j < 8; ++j) base[r] = fmaxf(base[r], scores[r][j]);
  }
  across_sixteen(base, fmaxf);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    base[r] *= c;
    const float offset = base[r] == -INFINITY ? 0.0f : base[r];
    sum[r] = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      scores[r][j] = exp2_in_hardware(fmaf(c, scores[r][j], -offset));
      sum[r] += scores[r][j];
    }
  }
  across_sixteen(sum, [](float a, float b) { return a + b; });
}

// [whole row]
/// A row as a whole, from what `parts` parts of it say.
__device__ inline RowPart whole_row(const RowPart* told, int parts) {
  constexpr int kMost = ClusterTiles::kMostParts, kApart = ClusterTiles::kQueries;
  RowPart row = {-INFINITY, 0.0f};
#pragma unroll
  for (int n = 0; n < kMost; ++n)
    if (n < parts) row.base = fmaxf(row.base, told[n * kApart].base);
  if (row.base == -INFINITY) row.base = 0.0f;
#pragma unroll
  for (int n = 0; n < kMost; ++n)
    if (n < parts) row.sum += told[n * kApart].sum * exp2_in_hardware(told[n * kApart].base - row.base);
  return row;
}
// [whole row]

// [cluster]
/// p[h][i] = softmax over all keys of scale * (q[h][i] * k[key_head(h)][j]), for d up to 64. The clusters
/// share the tiles of 64 queries; each has as many in a row as any other, or one more. A cluster has a block
/// for each 256 keys, and at least two: in a cluster of one, memcheck reports what a block sends to itself.
/// Traffic: each block reads 4 d bytes per query, and 4 d per key of its own whenever the head changes;
/// writes 4 bytes per weight.
__global__ void __launch_bounds__(ClusterTiles::kThreads, 2)
    weights_by_cluster(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ p,
                       Sizes s, float scale) {
#if __CUDA_ARCH__ >= 900
  using T = ClusterTiles;
  T& shared = *dynamic_shared<T>();
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = cluster.block_rank(), blocks = cluster.num_blocks();
  const int of_head = ceil_div(s.queries, T::kQueries);
  const long long tiles = static_cast<long long>(s.heads) * of_head;
  const int number = blockIdx.x / blocks, clusters = gridDim.x / blocks;
  const int begin = tiles * number / clusters, end = tiles * (number + 1) / clusters;

  // A warp has 16 queries and half of the block's keys; half of a warp has eight queries.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = lane % 16;
  const int row = warp / 2 * 8 + lane / 16 * 4, first_key = rank * T::kKeys;
  const int column = warp % 2 * T::kPartKeys + across * 4, part = 2 * rank + warp % 2;
  const auto row_of = [&](int r) { return row + r % 4 + r / 4 * (T::kQueries / 2); };
  const auto key_of = [&](int c) { return first_key + column + c % 4 + c / 4 * (T::kPartKeys / 2); };

  int held = -1;  // whose keys are in shared memory
  const auto fetch = [&](int tile) {
    const int head = tile / of_head, of_keys = s.key_head(head);
    copy_columns<T::kQueries>(shared.q, q + static_cast<size_t>(head) * s.queries * s.d,
                              tile % of_head * T::kQueries, s.queries, s.d);
    if (of_keys != held)
      copy_columns<T::kKeys>(shared.k, k + static_cast<size_t>(of_keys) * s.keys * s.d, first_key, s.keys,
                             s.d);
    held = of_keys;
  };
  if (threadIdx.x == 0) {
    for (Barrier& barrier : shared.told) init_barrier(&barrier, 1);
    fence_barrier_init();
  }
  cluster.sync();
  if (begin < end) fetch(begin);

  const float c = scale * 1.44269504f;
  const bool aligned = starts_vectors(p, s.keys);
  for (int tile = begin, turn = 0; tile < end; ++tile, ++turn) {
    const int set = turn % 2;
    cp_async_wait_all();
    if (threadIdx.x == 0) arrive_expect_tx(&shared.told[set], blocks * 2 * T::kQueries * sizeof(RowPart));
    __syncthreads();

    float scores[TM][8] = {};
#pragma unroll
    for (int i = 0; i < T::kD; ++i) {
      float of_q[TM], of_k[8];
      load_two_fours(of_q, &shared.q[i][row], T::kQueries / 2);
      load_two_fours(of_k, &shared.k[i][column], T::kPartKeys / 2);
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int j = 0; j < 8; ++j) scores[r][j] += of_q[r] * of_k[j];
    }
    __syncthreads();  // all have read the queries
    if (tile + 1 < end) fetch(tile + 1);

    float base[TM], sum[TM];
    if (first_key + T::kKeys > s.keys)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int r = 0; r < TM; ++r)
          if (key_of(j) >= s.keys) scores[r][j] = -INFINITY;
    powers_of_part(scores, c, base, sum);

    // [tell]
    const int to = across % 4, pair = across / 4;  // four lanes tell the same rows to four blocks
    if (to < blocks)
#pragma unroll
      for (int x = 0; x < 2; ++x)
        send_pair(of_pair(base, pair, x), of_pair(sum, pair, x),
                  &shared.parts[set][part][row_of(2 * pair) + x], &shared.told[set], to);
    wait_in_cluster(&shared.told[set], turn / 2 % 2);
    // [tell]

    // [combine]
    const RowPart whole = whole_row(&shared.parts[set][0][row_of(across % TM)], 2 * blocks);
    const float inverse = whole.sum == 0.0f ? 0.0f : 1.0f / whole.sum;
#pragma unroll
    for (int r = 0; r < TM; ++r) {  // lane r of 16 has combined row r, and so has lane r + 8
      const float factor = exp2_in_hardware(base[r] - __shfl_sync(0xffffffffu, whole.base, r, 16)) *
                           __shfl_sync(0xffffffffu, inverse, r, 16);
#pragma unroll
      for (int j = 0; j < 8; ++j) scores[r][j] *= factor;
    }
    // [combine]
    const int head = tile / of_head, first = tile % of_head * T::kQueries;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const int query = first + row_of(r);
      if (query >= s.queries) continue;
      float* out = p + (static_cast<size_t>(head) * s.queries + query) * s.keys;
#pragma unroll
      for (int j = 0; j < 8; j += 4) store_four(out + key_of(j), &scores[r][j], s.keys - key_of(j), aligned);
    }
  }
  cluster.sync();  // no block exits while another may still send to it
#endif
}
// [cluster]

// --- On the host ---

inline int cluster_blocks(int keys) { return max(2, ceil_div(keys, ClusterTiles::kKeys)); }

inline void launch_cluster(const float* q, const float* k, float* p, Sizes s, float scale) {
  const int tiles = s.heads * ceil_div(s.queries, ClusterTiles::kQueries);
  launch_clusters(weights_by_cluster, cluster_blocks(s.keys), tiles, ClusterTiles::kThreads,
                  sizeof(ClusterTiles), q, k, p, s, scale);
}
#endif

struct Cluster {
  static constexpr Stage row =
      kWeights<Full>.with({.name = "18_cluster",
                           .idea = "the weights in float32: a cluster of blocks shares the rows",
                           .needs = "compute capability 9.0, d <= 64, at most 1024 keys",
                           .capability = 90});
#ifdef WORKBOOK_GPU
  static void run(const Data& data) {
    const auto a = operands<float>(data);
    launch_cluster(a.q, a.k, data[kP<Full>], a.sizes, a.scale);
  }
  /// Two clusters that share the queries of a head both load its keys; how many do depends on the GPU.
  static Traffic traffic(const Shape& s) {
    const long long of_q = q_bytes(s) * cluster_blocks(s.dims[3]),
                    of_k = 4LL * s.dims[0] * s.dims[3] * s.dims[4];
    return {of_q + of_k, 4 * all_scores(s), repeated(of_q, q_bytes(s)) + repeated(of_k, k_bytes(s))};
  }
  static bool suits(const Shape& s) {
    return cluster_blocks(s.dims[3]) <= ClusterTiles::kMostBlocks && s.dims[4] <= ClusterTiles::kD &&
           scores_are_compared(s);
  }
#endif
};

}  // namespace DEVICE::attention
