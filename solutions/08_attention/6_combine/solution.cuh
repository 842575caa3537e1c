/// \file
/// Exercise 08.6, combine: merge partial softmaxes.
///
/// The keys of each row are split into parts, so that more blocks can work at a time. Each part has left
/// three things: the largest of its scores, called its maximum; the sum over its keys of exp(score -
/// maximum); and its output, d numbers, the sum over its keys of exp(score - maximum) * v. Combine the
/// parts into the row that one pass over all keys would give: the sum of exp(score) * v divided by the
/// sum of exp(score).
///
/// Scores can be of any size, so exp(score) itself may overflow. A part may have no keys: its maximum is
/// -infinity, its sum and its output are 0. A row whose parts are all empty becomes 0.
///
/// Goal: each partial output is read once, and each maximum and each sum at most twice by each warp; each
/// element of the result is written once.
#pragma once
#include "device.hpp"

namespace DEVICE::attention_combine {

/// o[row][0, d) from `parts` parts of each row: outputs is rows x parts x d, maxima and sums are rows x
/// parts. It is launched with one block of 128 threads per row, and d is at most 128: thread i has element i.
__global__ void combine(const float* __restrict__ outputs, const float* __restrict__ maxima,
                        const float* __restrict__ sums, float* __restrict__ o, int parts, int d) {
  const int i = threadIdx.x;
  const size_t row = blockIdx.x, first = row * parts;
  float sum = 0.0f, acc = 0.0f;
  // BEGIN SOLUTION
  float largest = -INFINITY;
  for (int p = 0; p < parts; ++p) largest = fmaxf(largest, maxima[first + p]);
  for (int p = 0; p < parts; ++p) {
    const float maximum = maxima[first + p];
    if (maximum == -INFINITY) continue;  // an empty part; if all are, -inf - -inf would be NaN
    const float factor = expf(maximum - largest);
    sum += factor * sums[first + p];
    if (i < d) acc += factor * outputs[(first + p) * d + i];
  }
  if (i < d) o[row * d + i] = sum > 0.0f ? acc / sum : 0.0f;
  // SKELETON
  // // TODO: each part is relative to a maximum of its own.
  // for (int p = 0; p < parts; ++p) {
  //   sum += sums[first + p];
  //   if (i < d) acc += outputs[(first + p) * d + i];
  // }
  // if (i < d) o[row * d + i] = acc / sum;
  // END SOLUTION
}

}  // namespace DEVICE::attention_combine
