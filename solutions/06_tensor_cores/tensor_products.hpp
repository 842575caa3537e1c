/// \file
/// Shared by the specifications of this chapter's exercises: matrices in bfloat16, their product, shapes.
#pragma once
#include "../05_linear_gelu/products.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"

namespace DEVICE {

constexpr auto kHalfX = workbook::input<__nv_bfloat16>("x", m_times_k);
constexpr auto kHalfW = workbook::input<__nv_bfloat16>("w", n_times_k);

inline void fill_rounded(__nv_bfloat16* to, long long count, float low, float high, unsigned seed) {
  float* values = new float[static_cast<size_t>(count)];
  workbook::fill_uniform(values, count, low, high, seed);
  for (long long i = 0; i < count; ++i) to[i] = from_float<__nv_bfloat16>(values[i]);
  delete[] values;
}

inline void fill_bfloat16(const workbook::Data& host) {
  fill_rounded(host[kHalfX], m_times_k(host.shape), -1.0f, 2.0f, 71);
  fill_rounded(host[kHalfW], n_times_k(host.shape), -0.25f, 0.125f, 72);
}

inline void reference_bfloat16(const workbook::Data& host, double* expected, double* magnitude) {
  const workbook::Shape& s = host.shape;
  workbook::product_of_bfloat16_rows(host[kHalfX], host[kHalfW], s.dims[0], s.dims[1], s.dims[2], expected,
                                     magnitude);
}

/// Bytes of w, or of x, that are read when each fragment of the product loads its own: 1024 bytes per step,
/// because a request reads half of the sector of each row of 16 elements, and each sector takes two.
inline long long fragment_bytes(const workbook::Shape& s) {
  return 1024 * m_times_n(s) / 256 * (s.dims[1] / 16);
}

/// As in problem.cuh: tensor cores truncate.
inline int tensor_roundings(const workbook::Shape& s) { return s.dims[1] + 16; }

/// Costs are counted at the last shape, which has four tiles of 128 x 128.
constexpr workbook::Shape kTensorShapes[] = {
    {{32, 32, 32}}, {{32, 96, 32}}, {{64, 32, 160}}, {{96, 160, 224}}, {{256, 64, 256}}};

}  // namespace DEVICE
