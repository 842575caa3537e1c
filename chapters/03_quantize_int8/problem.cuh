/// \file
/// Chapter 03: what its stages share: the arrays, the inputs, the references, and how far results may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE::quantize_int8 {

using namespace workbook;

/// The stages with one scale for all elements use this step size, and map 0 to this step.
constexpr float kScale = 0.05f, kZeroPoint = 3.0f;

// --- Arrays ---

inline long long rows(const Shape& shape) { return shape.dims[0]; }
inline long long elements(const Shape& shape) {
  return static_cast<long long>(shape.dims[0]) * shape.dims[1];
}

/// What kernels are told of a shape.
struct Sizes {
  int rows, columns, n;
};
inline Sizes sizes(const Shape& s) { return {s.dims[0], s.dims[1], s.dims[0] * s.dims[1]}; }

constexpr auto kX = input<float>("x", elements);
constexpr auto kOne = scratch<float>("one", elements);
constexpr auto kOther = scratch<float>("other", elements);

// --- Inputs and reference ---

/// Rows differ in magnitude; some elements are too large for kScale, and are clamped.
inline void fill(const Data& host) {
  const Sizes s = sizes(host.shape);
  float* const x = host[kX];
  fill_uniform(x, s.n, -7.0f, 8.0f, 31);
  for (int r = 0; r < s.rows; ++r) {
    float reach = 0;
    fill_uniform(&reach, 1, 0.1f, 1.0f, 1000u + static_cast<unsigned>(r));
    if (s.rows > 1)
      for (int c = 0; c < s.columns; ++c) x[static_cast<long long>(r) * s.columns + c] *= reach;
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
  const float* const x = host[kX];
  for (int i = 0; i < sizes(host.shape).n; ++i) {
    expected[i] = reference_step(x[i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

inline void reference_q_rows(const Data& host, double* expected, double* magnitude) {
  const Sizes s = sizes(host.shape);
  const float* const x = host[kX];
  for (int r = 0; r < s.rows; ++r) {
    const float* row = x + static_cast<long long>(r) * s.columns;
    const float scale = reference_scale(row, s.columns);
    for (int c = 0; c < s.columns; ++c) {
      expected[row - x + c] = reference_step(row[c], scale, 0.0f);
      magnitude[row - x + c] = 1;
    }
  }
}

inline void reference_scales(const Data& host, double* expected, double* magnitude) {
  const Sizes s = sizes(host.shape);
  const float* const x = host[kX];
  for (int r = 0; r < s.rows; ++r) {
    expected[r] = reference_scale(x + static_cast<long long>(r) * s.columns, s.columns);
    magnitude[r] = expected[r];
  }
}

constexpr auto kQ = output<signed char>("q", elements, reference_q, {&kX});
constexpr auto kQRows = output<signed char>("q_rows", elements, reference_q_rows, {&kX});
constexpr auto kScales = output<float>("scales", rows, reference_scales, {&kX});

constexpr const Array* kArrays[] = {&kX, &kOne, &kOther, &kQ, &kQRows, &kScales};

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

/// The row that the stages with one scale for all elements share.
constexpr Stage kOneScale = {.output = {&kQ}, .roundings = no_roundings};

/// The row that the stages with a scale for each row share.
constexpr Stage kScalePerRow = {
    .output = {&kQRows, &kScales}, .roundings = one_rounding, .needs = "rows of at most 131072 columns"};

}  // namespace DEVICE::quantize_int8
