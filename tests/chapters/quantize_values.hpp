/// \file
/// Inputs for chapter 03 on which an inexact division gives another step.
#pragma once
#include <cmath>
#include <random>

#include "chapter.hpp"
#include "chapters/arrays_by_name.hpp"

/// Ties, signed zeros, what overflows, infinities and NaN, in rows of their own and mixed with numbers.
inline void fill_special(const workbook::Data& host) {
  const float values[] = {0.0f,  -0.0f,  0.025f, 0.075f, -0.025f, -0.125f,  6.2f,      -6.55f,
                          1e30f, -1e30f, 3e38f,  1e-40f, -1e-40f, INFINITY, -INFINITY, NAN};
  constexpr int kValues = sizeof values / sizeof values[0];
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r)
    for (int c = 0; c < columns; ++c)
      floats(host, "x")[r * columns + c] = r % 3 == 0   ? values[(r + c) % kValues]
                                           : r % 3 == 1 ? values[r % kValues]
                                                        : 0.0f;
}

/// Rows whose largest values are 2^-130 to 2^120. The other elements differ by at most two floats from the
/// midpoint between two steps: of the row's own scale, and in every fourth row of a scale of 0.05.
inline void fill_near_ties(const workbook::Data& host) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-130, 120), step(-127, 126), moved(-2, 2);
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    float* row = floats(host, "x") + static_cast<long long>(r) * columns;
    row[0] = r % 4 == 0 ? 0.05f * 127.0f : std::ldexp(mantissa(generator), exponent(generator));
    const float scale = r % 4 == 0 ? 0.05f : row[0] / 127.0f;
    for (int c = 1; c < columns; ++c) {
      row[c] = (static_cast<float>(step(generator)) + 0.5f) * scale;
      const int moves = moved(generator);
      for (int k = 0; k < std::abs(moves); ++k) row[c] = std::nextafter(row[c], moves < 0 ? -1e30f : 1e30f);
    }
  }
}
