/// \file
/// Stage 6: the online softmax. The second product reads the scores once: when a larger one arrives, what has
/// been summed up is rescaled (M. Milakov, N. Gimelshein, Online normalizer calculation for softmax, 2018; as
/// flash attention uses it: T. Dao and others, 2022).
#pragma once
#include "05_two_kernels.cuh"

namespace DEVICE::attention {

// [online softmax]
/// Of TM queries, after the tiles so far: their largest scores, and in each lane the sum of its own
/// exp(score - largest). Scores are multiplied by `scale` here.
struct OnlineSoftmax {
  float most[TM], sum[TM];

  __device__ OnlineSoftmax() {
#pragma unroll
    for (int r = 0; r < TM; ++r) most[r] = -INFINITY, sum[r] = 0.0f;
  }

  /// Turns the scores of the next tile into weights relative to the largest score so far, and multiplies `o`,
  /// which is relative to the largest score before it, so that both can be added. `first_key` is the key of
  /// scores[..][0], `first` the query of scores[0]; keys that a query does not see get the weight 0.
  template <class Mask, int Columns>
  __device__ void absorb(float (&scores)[TM][TN], float (&o)[TM][Columns], Sizes s, int first, int first_key,
                         float scale) {
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const int visible = Mask::visible(s, first + r);
      float largest = -INFINITY;
#pragma unroll
      for (int c = 0; c < TN; ++c) {
        scores[r][c] = first_key + c < visible ? scores[r][c] * scale : -INFINITY;
        largest = fmaxf(largest, scores[r][c]);
      }
      largest = fmaxf(most[r], max_across(largest));
      const float base = largest == -INFINITY ? 0.0f : largest;  // no key so far: -inf - -inf is NaN
      const float rescale = expf(most[r] - base);
      most[r] = largest;
      sum[r] *= rescale;
#pragma unroll
      for (int c = 0; c < Columns; ++c) o[r][c] *= rescale;
#pragma unroll
      for (int c = 0; c < TN; ++c) {
        scores[r][c] = expf(scores[r][c] - base);
        sum[r] += scores[r][c];
      }
    }
  }

  /// factors[r] = 1 / the sum over all lanes of query r, or 0 if it saw no key.
  __device__ void factors(float (&factors)[TM]) const {
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const float all = sum_across(sum[r]);
      factors[r] = all > 0.0f ? 1.0f / all : 0.0f;
    }
  }
};
// [online softmax]

// [online]
/// o[h][i] = the sum over j of softmax(scale * scores[h][i])[j] * v[key_head(h)][j]; blocks as in
/// weighted_values(). Traffic: each block reads its scores once and v once, and writes 4 d bytes per query.
template <int D>
__global__ void __launch_bounds__(kThreads)
    online_values(const float* __restrict__ scores, const float* __restrict__ v, float* __restrict__ o,
                  Sizes s, float scale) {
  auto& tiles = *dynamic_shared<ValueTiles<D>>();
  const Place at = place_of(s, blockIdx.x);
  OnlineSoftmax softmax;
  Output<D> acc = {};
  for (int first_key = 0; first_key < s.keys; first_key += BN) {
    float of_thread[TM][TN];
    load_tile(of_thread, scores, at, first_key, s);
    softmax.absorb<Full>(of_thread, acc, s, at.first + at.row, first_key + at.column, scale);
    store_transposed(tiles.p, of_thread, at);
    copy_rows<D>(tiles.v, v + at.k_start, first_key, s.keys, s.d);
    __syncthreads();
    add_weighted_values<D>(acc, tiles.p, tiles.v, at.row, at.column);
    __syncthreads();
  }
  float factors[TM];
  softmax.factors(factors);
  store_output<D>(o + at.q_start, acc, factors, at.first + at.row, at.column, s.queries, s.d);
}
// [online]

// --- On the host ---

struct Online {
  static constexpr Stage row = kWhole<Full>.with({.name = "06_online",
                                                  .idea = "online softmax: the scores are read once",
                                                  .kernels = 2,
                                                  .needs = "d of at most 128; at most 2^30 scores"});
  static void run(const Data& data) {
    const auto a = operands<float>(data);
    launch_multiply(data, 1.0f);
    const bool narrow = a.sizes.d <= 64;
    launch_shared(narrow ? online_values<64> : online_values<128>, query_tiles(a.sizes), kThreads,
                  narrow ? sizeof(ValueTiles<64>) : sizeof(ValueTiles<128>), data[kScores], a.v,
                  data[kO<Full>], a.sizes, a.scale);
  }
  static Traffic traffic(const Shape& s) { return multiply_traffic(s) + values_traffic(s); }
  static bool suits(const Shape& s) { return rows_fit(s) && scores_fit(s); }
};

}  // namespace DEVICE::attention
