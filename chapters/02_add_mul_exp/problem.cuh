/// \file
/// Chapter 02: what its stages share: the arrays, the inputs, the references, and how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "halves.hpp"
#include "partial_sums.hpp"

namespace DEVICE::add_mul_exp {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::gpu_only;
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

/// The stage that sums leaves one partial sum per block.
inline long long most_sum_blocks(const Shape&) { return kMostSumBlocks; }

struct Arrays {
  int n;
  float *x, *y, *added, *doubled, *out, *partial, *sum;
};

inline Arrays arrays(const Data& d) {
  return {d.shape.dims[0],     d.floats("x"),   d.floats("y"),       d.floats("added"),
          d.floats("doubled"), d.floats("out"), d.floats("partial"), d.floats("sum")};
}

/// The arrays of 16-bit elements: T is __half or __nv_bfloat16.
template <class T>
struct Halves {
  T *x, *y, *out;
};

template <class T>
Halves<T> half_arrays(const Data& d);
template <>
inline Halves<__half> half_arrays<__half>(const Data& d) {
  const auto array = [&](const char* name) { return static_cast<__half*>(d.array(name, Type::kFloat16)); };
  return {array("x_float16"), array("y_float16"), array("out_float16")};
}
template <>
inline Halves<__nv_bfloat16> half_arrays<__nv_bfloat16>(const Data& d) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(d.array(name, Type::kBFloat16));
  };
  return {array("x_bfloat16"), array("y_bfloat16"), array("out_bfloat16")};
}

// --- Inputs and reference ---

/// exp((x + y) * 2) is 1 or, where x + y is -100, 0 in each type: sums count the ones. There are at most 2^24
/// of them, so float32 holds every sum exactly, and they stand at both ends, where a kernel may forget some.
inline void fill_exact(float* x, float* y, int n) {
  constexpr int kEnd = 1024;
  const float share = fminf(0.5f, 0x1p23f / static_cast<float>(n));
  workbook::fill_uniform(y, n, 0.0f, 1.0f, 22);
  workbook::fill_whole(x, n, 100, 21);
  for (int i = 0; i < n; ++i) {
    const bool is_one = y[i] < share || i < kEnd || i >= n - kEnd;
    y[i] = (is_one ? 0.0f : -100.0f) - x[i];
  }
}
inline bool has_exact_inputs(const Shape&) { return true; }

/// The same numbers in all three types: x + y is random, and exp((x + y) * 2) neither underflows nor
/// overflows in any of them.
inline void fill(const Data& host) {
  const int n = host.shape.dims[0];
  float *x = host.floats("x"), *y = host.floats("y");
  if (host.exact) {
    fill_exact(x, y, n);
  } else {
    workbook::fill_uniform(x, n, -1.5f, 1.0f, 21);
    workbook::fill_uniform(y, n, -1.0f, 1.5f, 22);
  }
  const Halves<__half> half = half_arrays<__half>(host);
  const Halves<__nv_bfloat16> bfloat16 = half_arrays<__nv_bfloat16>(host);
  for (int i = 0; i < n; ++i) {
    half.x[i] = __float2half(x[i]);
    half.y[i] = __float2half(y[i]);
    bfloat16.x[i] = __float2bfloat16(x[i]);
    bfloat16.y[i] = __float2bfloat16(y[i]);
  }
}

struct Term {
  double value, magnitude;
};

/// A relative error of the argument a becomes |a| times as large a relative error of exp(a). Below 2^-126
/// floats are spaced as at 2^-126, so the error there is absolute; beyond the largest float comes infinity.
inline Term reference_term(double x, double y) {
  constexpr double kSmallestNormal = 0x1p-126, kTooLarge = 0x1.ffffffp127;
  const double argument = (x + y) * 2;
  const double value = exp(argument);
  return {value < kTooLarge || value != value ? value : INFINITY,
          value * (1 + fabs(argument)) + kSmallestNormal};
}

inline void reference_out(const Data& host, double* expected, double* magnitude) {
  const float *x = host.floats("x"), *y = host.floats("y");
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const Term term = reference_term(x[i], y[i]);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

template <class T>
void reference_halves(const Data& host, double* expected, double* magnitude) {
  const Halves<T> a = half_arrays<T>(host);
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const Term term = reference_term(to_float(a.x[i]), to_float(a.y[i]));
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

inline void reference_sum(const Data& host, double* expected, double* magnitude) {
  const float *x = host.floats("x"), *y = host.floats("y");
  Term sum = {0, 0};
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const Term term = reference_term(x[i], y[i]);
    sum.value += term.value;
    sum.magnitude += term.magnitude;
  }
  *expected = sum.value;
  *magnitude = sum.magnitude;
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"y", Type::kFloat32, Role::kInput, elements, nullptr},
    {"x_float16", Type::kFloat16, Role::kInput, elements, nullptr},
    {"y_float16", Type::kFloat16, Role::kInput, elements, nullptr},
    {"x_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"y_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"added", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"doubled", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"partial", Type::kFloat32, Role::kScratch, most_sum_blocks, nullptr},
    {"out", Type::kFloat32, Role::kOutput, elements, reference_out, "x y"},
    {"out_float16", Type::kFloat16, Role::kOutput, elements, reference_halves<__half>, "x_float16 y_float16"},
    {"out_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_halves<__nv_bfloat16>,
     "x_bfloat16 y_bfloat16"},
    {"sum", Type::kFloat32, Role::kOutput, one, reference_sum, "x y"},
};

// --- What several stages share ---

constexpr int kThreads = 256;

/// Threads per block where each thread computes one vector. Large arrays: two blocks of 768 fill 1536 of a
/// multiprocessor's thread slots, the fastest on an H200 of 64 to 1024. Small ones: more blocks, so that
/// every multiprocessor has some.
inline int vector_threads(int n) { return n < 4'000'000 ? 256 : 768; }

/// x and y read once, out written once, for arrays that start on a sector boundary.
inline Traffic each_once_traffic(const Shape& s) {
  return {2 * sector_bytes(elements(s)), sector_bytes(elements(s))};
}

/// The bytes of one array read or written in vectors of `width` elements, and of the elements left over,
/// which take sectors of their own requests.
inline long long vector_bytes(const Shape& shape, int width, int bytes_each) {
  const long long n = elements(shape);
  return sector_bytes(n - n % width, bytes_each) + sector_bytes(n % width, bytes_each);
}

inline Traffic vector_traffic(const Shape& s, int width, int bytes_each) {
  return {2 * vector_bytes(s, width, bytes_each), vector_bytes(s, width, bytes_each)};
}

/// With u = 2^-24 and the argument a, an error of c * u * (1 + |a|) relative to the result is c roundings of
/// the magnitude above. The CUDA C++ Programming Guide, section "Mathematical Functions", bounds the distance
/// from the correctly rounded result in ulps, so the distance from the true one is half an ulp more; an ulp
/// is at most 2u. expf: 1.5 ulps, and the rounding of x + y, which is |a| u of the result.
inline int expf_roundings(const Shape&) { return 3; }

}  // namespace DEVICE::add_mul_exp
