/// \file
/// Shared by the specifications of this chapter's exercises: inputs in rows, and references of rows.
#pragma once
#include <math.h>

#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {

inline long long rows(const workbook::Shape& shape) { return shape.dims[0]; }
inline long long columns(const workbook::Shape& shape) { return shape.dims[1]; }
inline long long elements(const workbook::Shape& shape) { return rows(shape) * columns(shape); }

constexpr auto kX = workbook::input<float>("x", elements);
constexpr auto kWeight = workbook::input<float>("weight", columns);
constexpr auto kBias = workbook::input<float>("bias", columns);

/// Rows that differ in spread and centre; every fifth has no positive number.
inline void fill_rows(const workbook::Data& host) {
  const int columns = host.shape.dims[1];
  float* x = host[kX];
  workbook::fill_uniform(x, elements(host.shape), -2.0f, 3.0f, 91);
  for (int r = 0; r < host.shape.dims[0]; ++r)
    for (int c = 0; c < columns; ++c) {
      float& value = x[static_cast<long long>(r) * columns + c];
      value = r % 5 == 4 ? -0.5f - fabsf(value) : value * (0.5f + 0.25f * static_cast<float>(r % 4)) + 0.125f;
    }
}

/// As fill_rows(), but every third row is centred on 10,000, with the same spread: there a variance computed
/// as mean(x^2) - mean(x)^2 has no digit left.
inline void fill_rows_some_large(const workbook::Data& host) {
  fill_rows(host);
  const int columns = host.shape.dims[1];
  float* x = host[kX];
  for (int r = 2; r < host.shape.dims[0]; r += 3)
    for (int c = 0; c < columns; ++c) x[static_cast<long long>(r) * columns + c] += 1e4f;
}

/// As fill_rows_some_large(), but of more than two rows the second has a NaN, and the sixth an infinity: all
/// results of such a row are NaN.
inline void fill_rows_some_nan(const workbook::Data& host) {
  fill_rows_some_large(host);
  const long long rows = host.shape.dims[0], columns = host.shape.dims[1];
  if (rows > 2) host[kX][columns] = NAN;
  if (rows > 5) host[kX][5 * columns + columns / 2] = INFINITY;
}

/// Mean and variance of a row of `input(x)`, and the mean of its absolute values.
struct RowMoments {
  double mean, variance, size;
};
template <class Input>
RowMoments moments_of(const float* row, int columns, Input input) {
  double sum = 0, size = 0, squares = 0;
  for (int c = 0; c < columns; ++c) {
    sum += input(row[c]);
    size += fabs(input(row[c]));
  }
  const double mean = sum / columns;
  for (int c = 0; c < columns; ++c) squares += (input(row[c]) - mean) * (input(row[c]) - mean);
  return {mean, squares / columns, size / columns};
}

inline double identity(double x) { return x; }
inline double positive_part(double x) { return x < 0 ? 0 : x; }

constexpr float kEpsilon = 1e-3f;

/// Weight and bias.
inline void fill_parameters(const workbook::Data& host) {
  workbook::fill_uniform(host[kWeight], columns(host.shape), 0.5f, 1.5f, 92);
  workbook::fill_uniform(host[kBias], columns(host.shape), -0.5f, 1.0f, 93);
}

/// (x - mean) / sqrt(variance + kEpsilon) * weight + bias of each row.
inline void reference_layernorm(const workbook::Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  const float *x = host[kX], *weight = host[kWeight], *bias = host[kBias];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const long long first = static_cast<long long>(r) * columns;
    const RowMoments row = moments_of(x + first, columns, identity);
    for (int c = 0; c < columns; ++c) {
      const double element = x[first + c], factor = weight[c] / sqrt(row.variance + double{kEpsilon});
      expected[first + c] = (element - row.mean) * factor + bias[c];
      magnitude[first + c] = (fabs(element) + row.size) * fabs(factor) + fabs(bias[c]);
    }
  }
}

/// Each of 256 threads adds up its share, and a tree adds up the threads.
inline int sum_roundings(const workbook::Shape& s) { return s.dims[1] / 256 + 12; }
/// In blocks of kBlocks threads: in the smallest one, each of 32 threads adds up its share.
inline int any_block_roundings(const workbook::Shape& s) { return s.dims[1] / 32 + 12; }
/// For a row that is normalised by such sums; the terms are those of the chapter's problem.cuh.
inline int row_roundings(const workbook::Shape& s) { return 2 * sum_roundings(s) + 12; }

/// Threads of a block, where the kernel must be right for any multiple of 32. From 96, a tree comes to odd
/// counts. Not 32 first: a single warp has no races between warps.
constexpr int kBlocks[] = {96, 32, 1024, 256};

constexpr workbook::Shape kRowShapes[] = {{{1, 1, 1}},    {{2, 2, 1}},    {{3, 31, 1}},  {{6, 33, 1}},
                                          {{7, 255, 1}},  {{4, 256, 1}},  {{4, 257, 1}}, {{5, 1023, 1}},
                                          {{2, 1999, 1}}, {{64, 2048, 1}}};

}  // namespace DEVICE
