/// \file
/// Shared by the specifications of this chapter's exercises: inputs x and y, and what
/// one-dimensional arrays may cost.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"
#include "half_arrays.hpp"

namespace DEVICE {

inline long long elements(const workbook::Shape& s) { return s.dims[0]; }
inline long long one(const workbook::Shape&) { return 1; }

/// The bytes of one array of floats, in whole sectors.
inline long long array_bytes(const workbook::Shape& s) { return workbook::sector_bytes(elements(s)); }
inline long long two_array_bytes(const workbook::Shape& s) { return 2 * array_bytes(s); }

constexpr float kFactor = 1.2998046875f;  // a half

constexpr auto kX = workbook::input<float>("x", elements);
constexpr auto kY = workbook::input<float>("y", elements);

/// Fills x and y from `seed` and `seed` + 1.
inline void fill_xy(const workbook::Data& host, unsigned seed) {
  const int n = host.shape.dims[0];
  workbook::fill_uniform(host[kX], n, -1.5f, 1.0f, seed);
  workbook::fill_uniform(host[kY], n, -1.0f, 1.5f, seed + 1);
}

}  // namespace DEVICE
