/// \file
/// Shared by the specifications of this chapter's exercises: inputs q, k and v, the reference of a product and
/// a sum, and what one-dimensional arrays may cost.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {

inline long long elements(const workbook::Shape& s) { return s.dims[0]; }
inline long long one(const workbook::Shape&) { return 1; }

/// The bytes of one array of floats, in whole sectors.
inline long long array_bytes(const workbook::Shape& s) { return workbook::sector_bytes(elements(s)); }
inline long long three_array_bytes(const workbook::Shape& s) { return 3 * array_bytes(s); }

constexpr auto kQ = workbook::input<float>("q", elements);
constexpr auto kK = workbook::input<float>("k", elements);
constexpr auto kV = workbook::input<float>("v", elements);

/// Fills q, k and v from `seed`, `seed` + 1 and `seed` + 2.
inline void fill_qkv(const workbook::Data& host, unsigned seed) {
  const int n = host.shape.dims[0];
  workbook::fill_uniform(host[kQ], n, -1.0f, 2.0f, seed);
  workbook::fill_uniform(host[kK], n, -0.5f, 1.0f, seed + 1);
  workbook::fill_uniform(host[kV], n, -2.0f, 3.0f, seed + 2);
}

/// *expected = a * b + c.
inline void reference_element(float a, float b, float c, double* expected, double* magnitude) {
  const double product = static_cast<double>(a) * b;
  *expected = product + c;
  *magnitude = fabs(product) + fabs(c);
}

inline void reference_qkv(const workbook::Data& host, double* expected, double* magnitude) {
  const float *q = host[kQ], *k = host[kK], *v = host[kV];
  for (int i = 0; i < host.shape.dims[0]; ++i)
    reference_element(q[i], k[i], v[i], &expected[i], &magnitude[i]);
}

constexpr auto kOut = workbook::output<float>("out", elements, reference_qkv, {&kQ, &kK, &kV});
constexpr const workbook::Array* kQkvArrays[] = {&kQ, &kK, &kV, &kOut};

constexpr float kFactor = -1.75f;

/// One rounding of the product, one of the sum.
inline int multiply_add_roundings(const workbook::Shape&) { return 2; }

constexpr int kMostBlocks = 512;

/// For a sum: four elements or more for each of 256 threads, so that the sums of the blocks are few.
inline int block_count(const workbook::Shape& shape) {
  const int wanted = ceil_div(shape.dims[0], 4 * 256);
  return wanted < kMostBlocks ? wanted : kMostBlocks;
}

}  // namespace DEVICE
