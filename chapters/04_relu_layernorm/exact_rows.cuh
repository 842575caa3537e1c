/// \file
/// Chapter 04: inputs whose results are known exactly, Data::exact. In each row, the sum, the mean, the
/// distances from the mean and the sum of their squares are numbers that float32 holds, in whatever order
/// they are added up, and the variance is a power of 4, so 1 / sqrt(variance) is a power of two. What remains
/// are the roundings of variance + epsilon, of rsqrtf and of what follows it.
#pragma once
#include "chapter.hpp"

namespace DEVICE::relu_layernorm {

/// At most 2^20 columns, so that sums of rows stay below 2^24; at most 2^18 rows, for those of columns.
inline bool has_exact_inputs(const workbook::Shape& s) {
  return s.dims[0] <= 1 << 18 && s.dims[1] <= 1 << 20;
}

/// The next of a sequence of random numbers; the upper bits are the better ones.
inline unsigned next_random(unsigned& state) { return state = state * 1664525u + 1013904223u; }

/// distances[0, n) = whole numbers that add up to 0 and whose squares add up to 4 n: pairs of a number and
/// its negative, in random order. The numbers are 2 or, of every 8 `varied` pairs, five times 1 and three
/// times 3. An odd row ends with 4, -1, -1, -1, -1. Rows of 3 have squares that add up to 2 n, rows of 1 have
/// 0.
inline void fill_distances(float* distances, int n, bool varied, unsigned seed) {
  const float of_pairs[8] = {3, 1, 1, 1, 1, 1, 3, 3};
  const int last = n % 2 == 0 ? 0 : n < 5 ? n : 5, pairs = (n - last) / 2;
  const int varied_pairs = varied ? pairs - pairs % 8 : 0;
  unsigned state = seed;
  for (int p = 0; p < pairs; ++p) {
    const float distance = p < varied_pairs ? of_pairs[p % 8] : 2.0f;
    const bool positive_first = next_random(state) >> 31 && p + 1 < pairs;
    distances[2 * p] = positive_first ? distance : -distance;
    distances[2 * p + 1] = -distances[2 * p];
  }
  float* end = distances + 2 * pairs;
  for (int i = 0; i < last; ++i) end[i] = i == 0 ? static_cast<float>(last - 1) : -1.0f;
}

/// Two rows are far from 0, in units of their deviation: the mean of their squares minus the square of their
/// mean is wrong there. The sums of their squares are rounded.
inline bool is_far(int row) { return row == 1 || row == 5; }

/// The mean of such a row: as large as its sum may be, at most `most`, and odd, so that no sum of squares has
/// zeros at its end.
inline float far_mean(int columns, int most) {
  const int largest = (1 << 24) / columns - 5;
  return static_cast<float>(largest < most ? largest | 1 : most);
}

/// distances[0, n) = 0, but 1 and then -1 at a random element of every `apart`, a power of 4: the variance is
/// 1 / apart.
inline void fill_far_distances(float* distances, int n, int apart) {
  unsigned state = 1;
  for (int i = 0; i < n; ++i) distances[i] = 0;
  for (int first = 0; first < n; first += apart)
    distances[first + static_cast<int>(next_random(state) >> 16) % apart] = first / apart % 2 ? -1.0f : 1.0f;
}

/// 1024, or the largest smaller power of 4 that gives equal numbers of 1 and -1; else 1. Also 1 in rows so
/// long that the mean must be small. There the mean of squares is good enough, but Welford's running mean is
/// not, because the quotient that it adds is less than half an ulp of it.
inline int far_apart(int columns) {
  int apart = columns <= 1 << 17 ? 1024 : 1;
  while (apart > 1 && columns % (2 * apart) != 0) apart /= 4;
  return apart;
}

/// Row r; no element is larger than `most` + 4. Of every 8 rows, one has elements of both signs, of which
/// ReLU leaves half, with the mean 2, and one has no positive element. Some have a larger scale.
inline void fill_exact_row(float* row, int columns, int r, int most) {
  fill_distances(row, columns, r % 2 == 0, static_cast<unsigned>(r));
  if (is_far(r) && far_apart(columns) > 1) fill_far_distances(row, columns, far_apart(columns));
  const bool both_signs = r % 8 == 2 && columns % 2 == 0;
  const float mean = is_far(r) ? far_mean(columns, most) : 3.0f;
  const float scale = r == 4 ? 16.0f : r % 4 == 3 ? 2.0f : 1.0f, sign = r % 8 == 3 ? -1.0f : 1.0f;
  for (int c = 0; c < columns; ++c)
    row[c] = both_signs ? row[c] > 0 ? 4.0f : -4.0f : sign * scale * (mean + row[c]);
}

/// A power of two, so that the product with it is exact.
inline float exact_weight(int column) {
  const float weights[4] = {1, 2, 0.5f, -1};
  return weights[column / 4 % 4];
}

/// 0, an eighth of a whole number, or one that puts many results by 2^-17 above or below the middle between
/// two bfloat16 (float16) numbers, so that a small error changes how they are rounded.
inline float exact_bias(int column) {
  const float aside = column / 16 % 2 ? 0x1p-17f : -0x1p-17f;
  const float biases[4] = {0, static_cast<float>(column * 7 % 31 - 15) / 8, 4 + 0x1p-6f + aside,
                           4 + 0x1p-9f + aside};
  return biases[column % 4];
}

/// Weights and biases in 16 bits. With the weight 1 + `last_place`, the last place of the format at 1, a
/// result of 1.5 is in the middle between two numbers of the format but for epsilon, which makes it smaller,
/// or a bias of 2^-18, which makes it larger. A small error then changes how it is rounded.
inline float exact_half_weight(int column, float last_place) { return column / 4 % 2 ? 1 : 1 + last_place; }

inline float exact_half_bias(int column) {
  const float biases[4] = {0, static_cast<float>(column * 7 % 31 - 15) / 8, 0x1p-18f, 0x1p-18f};
  return biases[column % 4];
}

}  // namespace DEVICE::relu_layernorm
