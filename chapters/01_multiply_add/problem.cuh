/// \file
/// Chapter 01: what its stages share: the arrays, the inputs, the reference, and how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "partial_sums.hpp"

namespace DEVICE::multiply_add {

using namespace workbook;

// --- Arrays ---

inline int length(const Shape& shape) { return shape.dims[0]; }
inline long long elements(const Shape& shape) { return length(shape); }
inline long long one(const Shape&) { return 1; }

/// Stage 5 leaves one partial sum per block.
inline long long most_sum_blocks(const Shape&) { return kMostSumBlocks; }

constexpr auto kQ = input<float>("q", elements);
constexpr auto kK = input<float>("k", elements);
constexpr auto kV = input<float>("v", elements);
constexpr auto kProduct = scratch<float>("product", elements);
constexpr auto kPartial = scratch<float>("partial", most_sum_blocks);

// --- Inputs and reference ---

/// Whole numbers: k is even and v odd, so no element of q * k + v is 0. As they are as often negative as
/// positive, a sum of 2^31 of them in any order that does not depend on their values stays below 2^24, where
/// float32 holds it exactly.
inline void fill_exact(const Data& host) {
  const int n = length(host.shape);
  float *const k = host[kK], *const v = host[kV];
  fill_whole(host[kQ], n, 3, 1);
  fill_whole(k, n, 3, 2);
  fill_uniform(v, n, -2.0f, 2.0f, 3);
  for (int i = 0; i < n; ++i) {
    k[i] *= 2;
    v[i] = 2 * floorf(v[i]) + 1;
  }
}
inline bool has_exact_inputs(const Shape&) { return true; }

inline void fill(const Data& host) {
  if (host.exact) return fill_exact(host);
  const int n = length(host.shape);
  fill_uniform(host[kQ], n, -1.0f, 2.0f, 1);
  fill_uniform(host[kK], n, -0.5f, 1.0f, 2);
  fill_uniform(host[kV], n, -2.0f, 3.0f, 3);
}

struct Term {
  double value, magnitude;
};

inline Term reference_term(float q, float k, float v) {
  const double product = static_cast<double>(q) * k;
  return {product + v, fabs(product) + fabs(v)};
}

inline void reference_out(const Data& host, double* expected, double* magnitude) {
  const float *const q = host[kQ], *const k = host[kK], *const v = host[kV];
  for (int i = 0; i < length(host.shape); ++i) {
    const Term term = reference_term(q[i], k[i], v[i]);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

inline void reference_sum(const Data& host, double* expected, double* magnitude) {
  const float *const q = host[kQ], *const k = host[kK], *const v = host[kV];
  Term sum = {0, 0};
  for (int i = 0; i < length(host.shape); ++i) {
    const Term term = reference_term(q[i], k[i], v[i]);
    sum.value += term.value;
    sum.magnitude += term.magnitude;
  }
  *expected = sum.value;
  *magnitude = sum.magnitude;
}

constexpr auto kOut = output<float>("out", elements, reference_out, {&kQ, &kK, &kV});
constexpr auto kSum = output<float>("sum", one, reference_sum, {&kQ, &kK, &kV});

constexpr const Array* kArrays[] = {&kQ, &kK, &kV, &kProduct, &kPartial, &kOut, &kSum};

// --- What several stages share ---

constexpr int kThreads = 256;

/// The bytes of n elements read in vectors of four, and the one to three elements left over, which are in one
/// sector and have a request of their own.
inline long long vector_bytes(const Shape& shape) {
  const long long n = elements(shape);
  return sector_bytes(n - n % 4) + sector_bytes(n % 4);
}

/// One rounding of the product, one of the sum; a fused multiply-add makes only the second.
inline int elementwise_roundings(const Shape&) { return 2; }

/// The row that the stages that compute `out` share.
constexpr Stage kElementwise = {.output = {&kOut}, .roundings = elementwise_roundings};

}  // namespace DEVICE::multiply_add
