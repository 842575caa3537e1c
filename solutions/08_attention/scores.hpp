/// \file
/// Shared by the exercises of this chapter that work on rows of scores: their inputs, shapes and sums.
#pragma once
#include <math.h>

#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {

inline long long score_rows(const workbook::Shape& shape) { return shape.dims[0]; }
inline long long all_scores(const workbook::Shape& shape) {
  return static_cast<long long>(shape.dims[0]) * shape.dims[1];
}
inline long long score_bytes(const workbook::Shape& shape) { return 4 * all_scores(shape); }
inline long long no_atomics(const workbook::Shape&) { return 0; }

constexpr auto kX = workbook::input<float>("x", all_scores);

/// Six kinds of rows, one after the other. Each row has a finite score.
inline void fill_scores(const workbook::Data& host) {
  const int columns = host.shape.dims[1];
  float* x = host[kX];
  workbook::fill_uniform(x, all_scores(host.shape), -4.0f, 4.0f, 94);
  for (int r = 0; r < host.shape.dims[0]; ++r)
    for (int c = 0; c < columns; ++c) {
      float& score = x[static_cast<long long>(r) * columns + c];
      const float ramp = 20.0f * static_cast<float>(c) / static_cast<float>(columns);
      switch (r % 6) {
        case 1:  // large: exp(score) is infinite
          score += 1e4f;
          break;
        case 2:  // far below zero: exp(score) is 0
          score -= 1e4f;
          break;
        case 3:  // equal: no exponential and no sum is rounded
          score = 0.0f;
          break;
        case 4:  // growing: the maximum changes all along the row
          score += ramp;
          break;
        case 5:  // masked in its first half
          if (c < columns / 2) score = -INFINITY;
          break;
        default:
          break;
      }
    }
}

/// A row's maximum, its sum of exp(score - maximum), and how far rounded scores can put that sum off.
struct ScoreSum {
  double most, sum, size;
};

/// One rounding of `score` or of `most` changes exp(score - most) by that share of itself.
inline double exponent_size(double score, double most) { return 1 + fabs(score) + fabs(most); }

inline ScoreSum score_sum(const workbook::Data& host, int row) {
  const int columns = host.shape.dims[1];
  const float* x = host[kX] + static_cast<long long>(row) * columns;
  ScoreSum all = {-INFINITY, 0, 0};
  for (int c = 0; c < columns; ++c) all.most = fmax(all.most, x[c]);
  for (int c = 0; c < columns; ++c) {
    if (isinf(x[c])) continue;
    const double weight = exp(x[c] - all.most);
    all.sum += weight;
    all.size += weight * exponent_size(x[c], all.most);
  }
  return all;
}

/// Threads of a block: the kernels must be right for any multiple of 32. Not 32 first: a single warp has no
/// races between warps.
constexpr int kScoreBlocks[] = {96, 32, 1024, 256};
constexpr int kScoreBlockCount = sizeof kScoreBlocks / sizeof kScoreBlocks[0];

/// All kinds of rows at each length; one length is too much for the shared memory and registers of a block.
constexpr workbook::Shape kScoreShapes[] = {{{6, 1, 1}},    {{6, 2, 1}},     {{7, 31, 1}},   {{6, 32, 1}},
                                            {{6, 33, 1}},   {{6, 127, 1}},   {{6, 255, 1}},  {{6, 256, 1}},
                                            {{6, 257, 1}},  {{12, 1023, 1}}, {{6, 1999, 1}}, {{6, 12321, 1}},
                                            {{30, 2048, 1}}};
constexpr int kScoreShapeCount = sizeof kScoreShapes / sizeof kScoreShapes[0];

}  // namespace DEVICE
