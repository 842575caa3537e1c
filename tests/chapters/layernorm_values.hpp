/// \file
/// Inputs for chapter 04 that are hard to normalise.
#pragma once
#include <cmath>

#include "chapter.hpp"
#include "chapters/arrays_by_name.hpp"

inline float* row_of(const workbook::Data& host, int r) {
  return floats(host, "x") + static_cast<long long>(r) * host.shape.dims[1];
}

inline void fill_parameters(const workbook::Data& host) {
  workbook::fill_uniform(floats(host, "weight"), host.shape.dims[1], 0.5f, 1.5f, 2);
  workbook::fill_uniform(floats(host, "bias"), host.shape.dims[1], -1.0f, 0.5f, 3);
}

/// Rows with mean 10,000 and deviation 1: mean of squares less square of mean would lose all of the variance.
inline void fill_far(const workbook::Data& host) {
  const float half_width = std::sqrt(3.0f);
  for (int r = 0; r < host.shape.dims[0]; ++r)
    workbook::fill_uniform(row_of(host, r), host.shape.dims[1], 1e4f - half_width, 1e4f + half_width,
                           static_cast<unsigned>(r));
  fill_parameters(host);
}

/// A constant row, one without a positive number, one with an infinity, one with a NaN, one with -infinity
/// (which ReLU makes 0), a constant row whose squares overflow.
inline void fill_odd(const workbook::Data& host) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    float* row = row_of(host, r);
    workbook::fill_uniform(row, columns, r == 1 ? -2.0f : -1.0f, r == 1 ? -0.5f : 1.0f,
                           static_cast<unsigned>(r) + 7);
    if (r == 0 || r == 5)
      for (int c = 0; c < columns; ++c) row[c] = r == 0 ? 0.75f : 0x1p65f;
    if (r == 2) row[columns / 2] = INFINITY;
    if (r == 3) row[columns - 1] = NAN;
    if (r == 4) row[columns / 3] = -INFINITY;
  }
  fill_parameters(host);
}
