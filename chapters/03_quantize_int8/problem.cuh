/// \file
/// Chapter 03: what its stages share: the arrays, the inputs, the references, and how far results may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE::quantize_int8 {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::library;
using workbook::Role;
using workbook::row_sector_bytes;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

/// The stages with one scale for all elements use this step size, and map 0 to this step.
constexpr float kScale = 0.05f, kZeroPoint = 3.0f;

// --- Arrays ---

inline long long rows(const Shape& shape) { return shape.dims[0]; }
inline long long elements(const Shape& shape) {
  return static_cast<long long>(shape.dims[0]) * shape.dims[1];
}

struct Arrays {
  int rows, columns, n;
  float *x, *one, *other, *scales;
  signed char *q, *q_rows;
};

inline Arrays arrays(const Data& d) {
  const auto bytes = [&](const char* name) { return static_cast<signed char*>(d.array(name, Type::kInt8)); };
  return {d.shape.dims[0],    d.shape.dims[1], d.shape.dims[0] * d.shape.dims[1],
          d.floats("x"),      d.floats("one"), d.floats("other"),
          d.floats("scales"), bytes("q"),      bytes("q_rows")};
}

// --- Inputs and reference ---

/// Rows differ in magnitude; some elements are too large for kScale, and are clamped.
inline void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.x, a.n, -7.0f, 8.0f, 31);
  for (int r = 0; r < a.rows; ++r) {
    float size = 0;
    workbook::fill_uniform(&size, 1, 0.1f, 1.0f, 1000u + static_cast<unsigned>(r));
    if (a.rows > 1)
      for (int c = 0; c < a.columns; ++c) a.x[static_cast<long long>(r) * a.columns + c] *= size;
  }
}

/// In float32, as the operation is defined: results must be equal.
inline float reference_step(float x, float scale, float zero_point) {
  const float quotient = x / scale;
  const float rounded = rintf(quotient + zero_point);
  if (rounded != rounded) return 0.0f;
  return rounded < -128.0f ? -128.0f : rounded > 127.0f ? 127.0f : rounded;
}

inline float reference_scale(const float* row, int columns) {
  float largest = 0.0f;
  for (int c = 0; c < columns; ++c)
    if (fabsf(row[c]) > largest) largest = fabsf(row[c]);
  return largest > 0.0f ? largest / 127.0f : 1.0f;
}

inline void reference_q(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    expected[i] = reference_step(a.x[i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

inline void reference_q_rows(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    const float* row = a.x + static_cast<long long>(r) * a.columns;
    const float scale = reference_scale(row, a.columns);
    for (int c = 0; c < a.columns; ++c) {
      expected[row - a.x + c] = reference_step(row[c], scale, 0.0f);
      magnitude[row - a.x + c] = 1;
    }
  }
}

inline void reference_scales(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    expected[r] = reference_scale(a.x + static_cast<long long>(r) * a.columns, a.columns);
    magnitude[r] = expected[r];
  }
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"one", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"other", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"q", Type::kInt8, Role::kOutput, elements, reference_q},
    {"q_rows", Type::kInt8, Role::kOutput, elements, reference_q_rows},
    {"scales", Type::kFloat32, Role::kOutput, rows, reference_scales},
};

// --- What several stages share ---

constexpr int kThreads = 256;

/// x read once, q written once, for arrays that start on a sector boundary.
inline Traffic each_once_traffic(const Shape& s) {
  return {sector_bytes(elements(s)), sector_bytes(elements(s), 1)};
}

/// The same in vectors of `width` elements, then the elements left over: one request for every 32 of them.
inline Traffic vector_traffic(const Shape& s, int width) {
  const long long n = elements(s), singles = n % width;
  Traffic traffic = {sector_bytes(n - singles), sector_bytes(n - singles, 1)};
  for (long long done = n - singles; done < n; done += 32) {
    const long long end = done + 32 < n ? done + 32 : n;
    traffic.read_bytes += ((end * 4 - 1) / 32 - done * 4 / 32 + 1) * 32;
    traffic.write_bytes += ((end - 1) / 32 - done / 32 + 1) * 32;
  }
  return traffic;
}

/// The scales of all rows, each written or read by a warp alone: one sector per scale.
inline long long scale_bytes(const Shape& s) { return 32 * rows(s); }

/// Whether one block per row makes sense: longer rows would be too much work for one block.
inline bool rows_fit_blocks(const Shape& s) { return s.dims[1] <= 1 << 17; }

/// An int8 must be equal to the reference.
inline int no_roundings(const Shape&) { return 0; }

/// A scale is the result of one division.
inline int one_rounding(const Shape&) { return 1; }

}  // namespace DEVICE::quantize_int8
