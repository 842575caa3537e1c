/// \file
/// Stage 4: attention in three kernels. The matrix of scores, and then that of weights, goes through memory.
#pragma once
#include "01_unfused.cuh"

namespace DEVICE::attention {

/// A tile of weights and one of v, in dynamic shared memory: 33 or 49 KiB.
template <int D>
struct ValueTiles {
  TileRow p[BN];
  float v[BN][D];
};

// [load weights]
/// A thread's tile of a matrix of scores or weights, heads x queries x keys. Elements outside it become 0.
__device__ inline void load_tile(float (&to)[TM][TN], const float* __restrict__ from, const Place& at,
                                 int first_key, Sizes s) {
  const bool aligned = starts_vectors(from, s.keys);
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    const int query = at.first + at.row + r, key = first_key + at.column;
    const float* row = from + (static_cast<size_t>(at.head) * s.queries + query) * s.keys + key;
    const float4 four = query < s.queries ? load_four(row, s.keys - key, aligned) : float4{};
    to[r][0] = four.x, to[r][1] = four.y, to[r][2] = four.z, to[r][3] = four.w;
  }
}

/// A thread's weights into the tile p[key][query].
__device__ inline void store_transposed(TileRow* p, const float (&of_thread)[TM][TN], const Place& at) {
#pragma unroll
  for (int c = 0; c < TN; ++c)
#pragma unroll
    for (int r = 0; r < TM; r += 4)
      *reinterpret_cast<float4*>(&p[at.column + c][at.row + r]) =
          make_float4(of_thread[r][c], of_thread[r + 1][c], of_thread[r + 2][c], of_thread[r + 3][c]);
}
// [load weights]

// [weighted values]
/// o[h][i] = the sum over j of p[h][i][j] * v[key_head(h)][j], where d is at most D. One block of kThreads
/// threads per head and BM queries. Traffic: each block reads its weights once and v once, and writes 4 d
/// bytes per query.
template <int D>
__global__ void __launch_bounds__(kThreads)
    weighted_values(const float* __restrict__ p, const float* __restrict__ v, float* __restrict__ o,
                    Sizes s) {
  auto& tiles = *dynamic_shared<ValueTiles<D>>();
  const Place at = place_of(s, blockIdx.x);
  Output<D> acc = {};
  for (int first_key = 0; first_key < s.keys; first_key += BN) {
    float of_thread[TM][TN];
    load_tile(of_thread, p, at, first_key, s);
    store_transposed(tiles.p, of_thread, at);
    copy_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    add_weighted_values<D>(acc, tiles.p, tiles.v, at.row, at.column);
    __syncthreads();
  }
  const float ones[TM] = {1, 1, 1, 1, 1, 1, 1, 1};
  store_output<D>(o + at.q_start, acc, ones, at.first + at.row, at.column, s.queries, s.d);
}
// [weighted values]

// --- On the host ---

/// The bytes of the second product, which reads the scores or the weights once.
inline Traffic values_traffic(const Shape& s) {
  return {4 * all_scores(s) + tiled_k_bytes(s), q_bytes(s), repeated(tiled_k_bytes(s), k_bytes(s))};
}

struct ThreeKernels {
  static constexpr Stage row = kWhole<Full>.with({.name = "04_three_kernels",
                                                  .idea = "attention: product, softmax, product",
                                                  .kernels = 3,
                                                  .exact_roundings = exact_sum_roundings,
                                                  .needs = "d of at most 128; at most 2^30 scores"});
  static void run(const Data& data) {
    const auto a = operands<float>(data);
    launch_multiply(data, a.scale);
    launch_softmax(data, data[kScores]);
    const bool narrow = a.sizes.d <= 64;
    launch_shared(narrow ? weighted_values<64> : weighted_values<128>, query_tiles(a.sizes), kThreads,
                  narrow ? sizeof(ValueTiles<64>) : sizeof(ValueTiles<128>), data[kScores], a.v,
                  data[kO<Full>], a.sizes);
  }
  static Traffic traffic(const Shape& s) {
    return multiply_traffic(s) + softmax_traffic(s) + values_traffic(s);
  }
  static bool suits(const Shape& s) { return rows_fit(s) && scores_fit(s); }
};

}  // namespace DEVICE::attention
