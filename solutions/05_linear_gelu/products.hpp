/// \file
/// Shared by the specifications of this chapter's exercises: matrices, the product as a reference, shapes.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"

namespace DEVICE {

inline long long m_times_k(const workbook::Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[1]; }
inline long long n_times_k(const workbook::Shape& s) { return static_cast<long long>(s.dims[2]) * s.dims[1]; }
inline long long m_times_n(const workbook::Shape& s) { return static_cast<long long>(s.dims[0]) * s.dims[2]; }
inline long long columns_of_y(const workbook::Shape& s) { return s.dims[2]; }

constexpr auto kX = workbook::input<float>("x", m_times_k);
constexpr auto kW = workbook::input<float>("w", n_times_k);
constexpr auto kBias = workbook::input<float>("bias", columns_of_y);

inline void fill_matrices(const workbook::Data& host) {
  workbook::fill_uniform(host[kX], m_times_k(host.shape), -1.0f, 2.0f, 61);
  workbook::fill_uniform(host[kW], n_times_k(host.shape), -1.0f, 0.5f, 62);
}

inline void reference_product(const workbook::Data& host, double* expected, double* magnitude) {
  const workbook::Shape& s = host.shape;
  workbook::product_of_rows(host[kX], host[kW], s.dims[0], s.dims[1], s.dims[2], expected, magnitude);
}

/// Applies bias and GELU to the product. GELU is nowhere steeper than 1.13.
inline void finish_reference(const workbook::Data& host, double* expected, double* magnitude) {
  const float* all_bias = host[kBias];
  for (long long i = 0; i < m_times_n(host.shape); ++i) {
    const double bias = all_bias[i % host.shape.dims[2]], v = expected[i] + bias;
    expected[i] = 0.5 * v * (1 + erf(v / sqrt(2.0)));
    magnitude[i] = 1.13 * (magnitude[i] + fabs(bias));
  }
}

/// As in problem.cuh: rounding errors go up and down alike, so they grow with the root of their number.
inline int product_roundings(const workbook::Shape& s) {
  return 6 * static_cast<int>(ceil(sqrt(static_cast<double>(s.dims[1])))) + 16;
}

/// Costs are counted at the last shape, which fills all tiles of up to 128 x 128.
constexpr workbook::Shape kProductShapes[] = {{{1, 1, 1}},    {{2, 3, 5}},    {{1, 40, 70}},
                                              {{31, 33, 32}}, {{33, 31, 65}}, {{70, 9, 130}},
                                              {{66, 36, 68}}, {{33, 1, 70}},  {{256, 64, 256}}};

/// Bytes that a product by tiles of 32 x 32 reads.
inline long long tiles_read(const workbook::Shape& s) { return 4 * m_times_n(s) * s.dims[1] * 2 / 32; }
inline long long one_launch(const workbook::Shape&) { return 1; }
inline long long result_bytes(const workbook::Shape& s) { return 4 * m_times_n(s); }

}  // namespace DEVICE
