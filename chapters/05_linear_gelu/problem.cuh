/// \file
/// Chapter 05: what its stages share: the arrays, the inputs, the references, how far float32 may be off, and
/// the bytes that products in tiles should move.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"

namespace DEVICE::linear_gelu {

using namespace workbook;

// --- Arrays ---

/// x is m x k, w is n x k as PyTorch's Linear stores it, y is m x n; all are row-major.
inline long long m(const Shape& s) { return s.dims[0]; }
inline long long k(const Shape& s) { return s.dims[1]; }
inline long long n(const Shape& s) { return s.dims[2]; }

inline long long x_elements(const Shape& s) { return m(s) * k(s); }
inline long long w_elements(const Shape& s) { return n(s) * k(s); }
inline long long y_elements(const Shape& s) { return m(s) * n(s); }

constexpr auto kX = input<float>("x", x_elements);
constexpr auto kW = input<float>("w", w_elements);
constexpr auto kBias = input<float>("bias", n);
constexpr auto kV = input<float>("v", w_elements);
constexpr auto kBiased = scratch<float>("biased", y_elements);

/// A product x * w^T, of an m x k and an n x k matrix.
struct Factors {
  const float *x, *w;
  int m, k, n;
};
inline Factors factors(const Data& data) {
  const Shape& s = data.shape;
  return {data[kX], data[kW], s.dims[0], s.dims[1], s.dims[2]};
}

// --- Inputs and references ---

/// Products of two numbers of at most 15 each: 2^16 of them add up to less than 2^24. With the other limit,
/// so do the terms of z, which are as often negative as positive.
inline bool has_exact_inputs(const Shape& s) { return k(s) <= 1 << 16 && k(s) * n(s) <= 1 << 28; }

/// Multiples of 4 in x and w, so of 16 in the product, and odd multiples of 8 in the bias: float32 holds
/// every partial sum exactly. No argument of GELU is between -8 and 8, so float32 rounds the results to their
/// arguments and to 0, and holds every partial sum of the second product as well.
inline void fill_exact(const Data& host) {
  float *const x = host[kX], *const w = host[kW], *const bias = host[kBias];
  fill_whole(x, x_elements(host.shape), 15, 51);
  fill_whole(w, w_elements(host.shape), 15, 52);
  fill_whole(bias, n(host.shape), 7, 53);
  fill_whole(host[kV], w_elements(host.shape), 1, 54);
  for (long long i = 0; i < x_elements(host.shape); ++i) x[i] *= 4;
  for (long long i = 0; i < w_elements(host.shape); ++i) w[i] *= 4;
  for (int i = 0; i < n(host.shape); ++i) bias[i] = 16 * bias[i] + 8;
}

/// The elements of the product have a variance of about 1, whatever k is: GELU is curved there.
inline void fill(const Data& host) {
  if (host.exact) return fill_exact(host);
  const float reach = 3.0f / sqrtf(static_cast<float>(host.shape.dims[1]));
  fill_uniform(host[kX], x_elements(host.shape), -1.0f, 1.0f, 51);
  fill_uniform(host[kW], w_elements(host.shape), -reach, reach, 52);
  fill_uniform(host[kBias], n(host.shape), -0.5f, 1.0f, 53);
  fill_uniform(host[kV], w_elements(host.shape), -0.5f, 1.0f, 54);
}

inline void reference_product(const Data& host, double* expected, double* magnitude) {
  const Factors a = factors(host);
  product_of_rows(a.x, a.w, a.m, a.k, a.n, expected, magnitude);
  take_own_magnitude(host, y_elements(host.shape), expected, magnitude);
}

/// The second product, z = y * v^T. Its magnitude is that of a product of exact values of y, rounded to
/// float32 as the kernels round them, plus what the errors of y amount to in z. On exact inputs z is a whole
/// number, but for what is left of GELU's negative results, less than 10^-10.
inline void reference_z(const Data& host, double* expected, double* magnitude) {
  const Factors a = factors(host);
  const auto y_count = static_cast<size_t>(y_elements(host.shape));
  const auto z_count = static_cast<size_t>(x_elements(host.shape));
  auto *y = new double[y_count], *y_magnitude = new double[y_count], *errors = new double[z_count];
  auto* as_float = new float[y_count];
  reference_product(host, y, y_magnitude);
  reference_bias_gelu(host, y, y_magnitude);
  for (size_t i = 0; i < y_count; ++i) as_float[i] = static_cast<float>(y_magnitude[i]);
  product_of_rows(as_float, host[kV], a.m, a.n, a.k, expected, errors);
  for (size_t i = 0; i < y_count; ++i) as_float[i] = static_cast<float>(y[i]);
  product_of_rows(as_float, host[kV], a.m, a.n, a.k, expected, magnitude);
  for (size_t i = 0; i < z_count; ++i)
    magnitude[i] = host.exact ? fabs(expected[i]) + 1 : magnitude[i] + errors[i];
  delete[] as_float;
  delete[] errors;
  delete[] y_magnitude;
  delete[] y;
}

constexpr auto kProduct = output<float>("product", y_elements, reference_product, {&kX, &kW});
constexpr auto kY = output<float>("y", y_elements, reference_bias_gelu, {&kX, &kW, &kBias}, &kProduct);
constexpr auto kYTanh =
    output<float>("y_tanh", y_elements, reference_bias_gelu_tanh, {&kX, &kW, &kBias}, &kProduct);
constexpr auto kZ = output<float>("z", x_elements, reference_z, {&kX, &kW, &kBias, &kV});

constexpr const Array* kArrays[] = {&kX, &kW, &kBias, &kV, &kBiased, &kProduct, &kY, &kYTanh, &kZ};

// --- How far results may be off ---

/// The errors of successive additions are as often positive as negative: 6 sqrt(k) roundings bound their sum
/// with a probability close to 1 (N. Higham, T. Mary, A new approach to probabilistic rounding error
/// analysis, 2019).
inline int product_roundings(const Shape& s) {
  return 6 * static_cast<int>(ceil(sqrt(static_cast<double>(s.dims[1])))) + 4;
}
inline int linear_roundings(const Shape& s) { return product_roundings(s) + 12; }
/// Those of bias and GELU alone.
inline int exact_roundings(const Shape&) { return 12; }
/// A sum of whole numbers.
inline int exact_z_roundings(const Shape&) { return 1; }

// --- What several stages share ---

inline double product_flops(const Shape& s) {
  return 2.0 * static_cast<double>(y_elements(s)) * static_cast<double>(k(s));
}

/// The row that the stages share that compute the product alone.
constexpr Stage kComputesProduct = {.output = {&kProduct},
                                    .roundings = product_roundings,
                                    .exact_roundings = exact_roundings,
                                    .flops = product_flops,
                                    .needs = "at most 2^38 multiplications: it is slow"};
/// The row that those share that compute y, with bias and GELU.
constexpr Stage kComputesY = kComputesProduct.with({.output = {&kY}, .roundings = linear_roundings});

/// Shapes that most stages are run at: larger ones would take too long.
inline bool up_to_2_38(const Shape& s) { return product_flops(s) <= 2 * ldexp(1.0, 38); }

/// A block for every row, and for every `columns` columns of it.
inline dim3 by_rows(const Factors& a, int columns) {
  return dim3(static_cast<unsigned>(a.m), static_cast<unsigned>(ceil_div(a.n, columns)));
}
/// A block for every tile of the result.
inline dim3 by_tiles(const Factors& a, int tile_rows, int tile_columns) {
  return dim3(static_cast<unsigned>(ceil_div(a.n, tile_columns)),
              static_cast<unsigned>(ceil_div(a.m, tile_rows)));
}

// Traffic, for k and n that are multiples of 8.

/// Bytes of x and w, read once; repeats are assumed to hit a cache.
inline long long input_bytes(const Shape& s) { return 4 * (x_elements(s) + w_elements(s)); }

/// The traffic of a product that reads `read` bytes of x and w and writes `written` bytes of the result, or
/// of the sectors that hold it: more where a request writes only part of each sector.
inline Traffic product_traffic(const Shape& s, long long read, long long written) {
  return {read, written, read - input_bytes(s), written - 4 * y_elements(s)};
}

/// Bytes of x and w that a product in tiles reads: 4mnk(1/tile_rows + 1/tile_columns), where the tiles fill
/// the result.
inline long long tile_read_bytes(const Shape& s, int tile_rows, int tile_columns) {
  return 4 * k(s) * (m(s) * ceil_div(s.dims[2], tile_columns) + n(s) * ceil_div(s.dims[0], tile_rows));
}
inline Traffic tiled(const Shape& s, int tile_rows, int tile_columns) {
  return product_traffic(s, tile_read_bytes(s, tile_rows, tile_columns), 4 * y_elements(s));
}

/// One pass over the result, which also reads `bias` bytes of bias: from a cache, except for the first time.
inline Traffic pass(const Shape& s, long long bias) {
  return {4 * y_elements(s) + bias, 4 * y_elements(s), bias == 0 ? 0 : bias - 4 * n(s)};
}

}  // namespace DEVICE::linear_gelu
