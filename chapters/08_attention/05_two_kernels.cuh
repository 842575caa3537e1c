/// \file
/// Stage 5: attention in two kernels. The second product computes the softmax of its scores as it loads them:
/// the weights never go through memory, but it must read the scores twice, because the maximum comes first.
#pragma once
#include "04_three_kernels.cuh"

namespace DEVICE::attention {

// [half warp]
/// The largest value, and the sum, of the kThreadsAcross lanes that have the same queries.
__device__ inline float max_across(float value) {
#pragma unroll
  for (int distance = kThreadsAcross / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}
__device__ inline float sum_across(float value) {
#pragma unroll
  for (int distance = kThreadsAcross / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}
// [half warp]

// [softmax values]
/// o[h][i] = the sum over j of softmax(scores[h][i])[j] * v[key_head(h)][j]; blocks as in weighted_values().
/// Traffic: each block reads its scores twice and v once, and writes 4 d bytes per query.
template <int D>
__global__ void __launch_bounds__(kThreads)
    softmax_values(const float* __restrict__ scores, const float* __restrict__ v, float* __restrict__ o,
                   Sizes s) {
  auto& tiles = *dynamic_shared<ValueTiles<D>>();
  const Place at = place_of(s, blockIdx.x);
  float of_thread[TM][TN], most[TM], sum[TM] = {};
#pragma unroll
  for (int r = 0; r < TM; ++r) most[r] = -INFINITY;
  for (int first_key = 0; first_key < s.keys; first_key += BN) {
    load_tile(of_thread, scores, at, first_key, s);
#pragma unroll
    for (int r = 0; r < TM; ++r)
#pragma unroll
      for (int c = 0; c < TN; ++c)
        if (first_key + at.column + c < s.keys) most[r] = fmaxf(most[r], of_thread[r][c]);
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) most[r] = max_across(most[r]);

  Output<D> acc = {};
  for (int first_key = 0; first_key < s.keys; first_key += BN) {
    load_tile(of_thread, scores, at, first_key, s);
#pragma unroll
    for (int r = 0; r < TM; ++r)
#pragma unroll
      for (int c = 0; c < TN; ++c) {
        const bool exists = first_key + at.column + c < s.keys;
        of_thread[r][c] = exists ? expf(of_thread[r][c] - most[r]) : 0.0f;
        sum[r] += of_thread[r][c];
      }
    store_transposed(tiles.p, of_thread, at);
    copy_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    add_weighted_values<D>(acc, tiles.p, tiles.v, at.row, at.column);
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) sum[r] = 1.0f / sum_across(sum[r]);
  store_output<D>(o + at.q_start, acc, sum, at.first + at.row, at.column, s.queries, s.d);
}
// [softmax values]

// --- On the host ---

struct TwoKernels {
  static constexpr Stage row = kWhole<Full>.with({.name = "05_two_kernels",
                                                  .idea = "softmax fused into the second product",
                                                  .kernels = 2,
                                                  .needs = "d of at most 128; at most 2^30 scores"});
  static void run(const Data& data) {
    const auto a = operands<float>(data);
    launch_multiply(data, a.scale);
    const bool narrow = a.sizes.d <= 64;
    launch_shared(narrow ? softmax_values<64> : softmax_values<128>, query_tiles(a.sizes), kThreads,
                  narrow ? sizeof(ValueTiles<64>) : sizeof(ValueTiles<128>), data[kScores], a.v,
                  data[kO<Full>], a.sizes);
  }
  static Traffic traffic(const Shape& s) {
    const Traffic again = {4 * all_scores(s), 0, 4 * all_scores(s)};
    return multiply_traffic(s) + values_traffic(s) + again;
  }
  static bool suits(const Shape& s) { return rows_fit(s) && scores_fit(s); }
};

}  // namespace DEVICE::attention
