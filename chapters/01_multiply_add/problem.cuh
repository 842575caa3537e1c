/// \file
/// Chapter 01: what its stages share: the arrays, the inputs, the reference, and how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "partial_sums.hpp"

namespace DEVICE::multiply_add {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::library;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

// --- Arrays ---

inline long long elements(const Shape& shape) { return shape.dims[0]; }
inline long long one(const Shape&) { return 1; }

/// Stage 5 leaves one partial sum per block.
inline long long most_sum_blocks(const Shape&) { return kMostSumBlocks; }

struct Arrays {
  int n;
  float *q, *k, *v, *product, *out, *partial, *sum;
};

inline Arrays arrays(const Data& d) {
  return {d.shape.dims[0],     d.floats("q"),   d.floats("k"),       d.floats("v"),
          d.floats("product"), d.floats("out"), d.floats("partial"), d.floats("sum")};
}

// --- Inputs and reference ---

/// Whole numbers: k is even and v odd, so no element of q * k + v is 0. As they are as often negative as
/// positive, a sum of 2^31 of them in any order that does not depend on their values stays below 2^24, where
/// float32 holds it exactly.
inline void fill_exact(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_whole(a.q, a.n, 3, 1);
  workbook::fill_whole(a.k, a.n, 3, 2);
  workbook::fill_uniform(a.v, a.n, -2.0f, 2.0f, 3);
  for (int i = 0; i < a.n; ++i) {
    a.k[i] *= 2;
    a.v[i] = 2 * floorf(a.v[i]) + 1;
  }
}
inline bool has_exact_inputs(const Shape&) { return true; }

inline void fill(const Data& host) {
  if (host.exact) return fill_exact(host);
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.q, a.n, -1.0f, 2.0f, 1);
  workbook::fill_uniform(a.k, a.n, -0.5f, 1.0f, 2);
  workbook::fill_uniform(a.v, a.n, -2.0f, 3.0f, 3);
}

struct Term {
  double value, magnitude;
};

inline Term reference_term(const Arrays& a, int i) {
  const double product = static_cast<double>(a.q[i]) * a.k[i];
  return {product + a.v[i], fabs(product) + fabs(a.v[i])};
}

inline void reference_out(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    const Term term = reference_term(a, i);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

inline void reference_sum(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  Term sum = {0, 0};
  for (int i = 0; i < a.n; ++i) {
    const Term term = reference_term(a, i);
    sum.value += term.value;
    sum.magnitude += term.magnitude;
  }
  *expected = sum.value;
  *magnitude = sum.magnitude;
}

const Array kArrays[] = {
    {"q", Type::kFloat32, Role::kInput, elements, nullptr},
    {"k", Type::kFloat32, Role::kInput, elements, nullptr},
    {"v", Type::kFloat32, Role::kInput, elements, nullptr},
    {"product", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"partial", Type::kFloat32, Role::kScratch, most_sum_blocks, nullptr},
    {"out", Type::kFloat32, Role::kOutput, elements, reference_out},
    {"sum", Type::kFloat32, Role::kOutput, one, reference_sum},
};

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

}  // namespace DEVICE::multiply_add
