/// \file
/// Stage 8: fewer instructions around the products. exp(scale * x) is 2^(scale * log2(e) * x), which the
/// hardware computes directly, and what has been summed up is rescaled only when the largest score has grown
/// a lot.
#pragma once
#include "07_flash.cuh"

namespace DEVICE::attention {

// [lazy softmax]
/// As OnlineSoftmax, with other exponents: weights are 2^(c * (score - base)), c = scale * log2(e), where
/// `base` is a score that was the largest some tiles ago. A weight is at most 2^kGrowth, and the final
/// division by the sum makes up for it.
struct LazySoftmax {
  static constexpr float kGrowth = 8.0f;
  float base[TM], sum[TM];

  __device__ LazySoftmax() {
#pragma unroll
    for (int r = 0; r < TM; ++r) base[r] = -INFINITY, sum[r] = 0.0f;
  }

  template <class Mask, int Columns>
  __device__ void absorb(float (&scores)[TM][TN], float (&o)[TM][Columns], Sizes s, int first, int first_key,
                         float scale) {
    const float c = scale * 1.44269504f;
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const int visible = Mask::visible(s, first + r);
      float largest = -INFINITY;
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        if (first_key + j >= visible) scores[r][j] = -INFINITY;
        largest = fmaxf(largest, scores[r][j]);
      }
      largest = max_across(largest);
      if (c * largest > c * base[r] + kGrowth) {  // all lanes of this row decide the same
        const float rescale = exp2f(c * (base[r] - largest));
        base[r] = largest;
        sum[r] *= rescale;
#pragma unroll
        for (int i = 0; i < Columns; ++i) o[r][i] *= rescale;
      }
      const float offset = base[r] == -INFINITY ? 0.0f : c * base[r];
#pragma unroll
      for (int j = 0; j < TN; ++j) {
        scores[r][j] = exp2f(fmaf(c, scores[r][j], -offset));
        sum[r] += scores[r][j];
      }
    }
  }

  __device__ void factors(float (&factors)[TM]) const {
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const float all = sum_across(sum[r]);
      factors[r] = all > 0.0f ? 1.0f / all : 0.0f;
    }
  }
};
// [lazy softmax]

// --- On the host ---

struct Exp2 {
  static constexpr Stage row =
      kWhole<Full>.with({.name = "08_exp2", .idea = "exponents of two, and rescaling when needed"});
  static void run(const Data& data) { launch_flash<LazySoftmax, Full, EveryTile>(data); }
  static Traffic traffic(const Shape& s) { return flash_traffic(s); }
  static bool suits(const Shape& s) { return rows_fit(s); }
};

}  // namespace DEVICE::attention
