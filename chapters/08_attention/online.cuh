/// \file
/// The online softmax: the weights of a row whose scores arrive one tile at a time (M. Milakov, N.
/// Gimelshein, Online normalizer calculation for softmax, 2018; as flash attention uses it: T. Dao and
/// others, 2022).
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

}  // namespace DEVICE::attention
