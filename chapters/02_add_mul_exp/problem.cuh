/// \file
/// Chapter 02: what its stages share: the arrays, the inputs, the references, and how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"
#include "partial_sums.hpp"

namespace DEVICE::add_mul_exp {

using namespace workbook;

// --- Arrays ---

inline int length(const Shape& shape) { return shape.dims[0]; }
inline long long elements(const Shape& shape) { return length(shape); }
inline long long one(const Shape&) { return 1; }

/// The stage that sums leaves one partial sum per block.
inline long long most_sum_blocks(const Shape&) { return kMostSumBlocks; }

constexpr auto kX = input<float>("x", elements);
constexpr auto kY = input<float>("y", elements);
constexpr auto kAdded = scratch<float>("added", elements);
constexpr auto kDoubled = scratch<float>("doubled", elements);
constexpr auto kPartial = scratch<float>("partial", most_sum_blocks);

// The same with 16-bit elements: T is __half or __nv_bfloat16.
template <class T>
constexpr auto kHalfX = input<T>(kIsFloat16<T> ? "x_float16" : "x_bfloat16", elements);
template <class T>
constexpr auto kHalfY = input<T>(kIsFloat16<T> ? "y_float16" : "y_bfloat16", elements);

// --- Inputs and reference ---

/// exp((x + y) * 2) is 1 or, where x + y is -100, 0 in each type: sums count the ones. There are at most 2^24
/// of them, so float32 holds every sum exactly, and they stand at both ends, where a kernel may forget some.
inline void fill_exact(float* x, float* y, int n) {
  constexpr int kEnd = 1024;
  const float share = fminf(0.5f, 0x1p23f / static_cast<float>(n));
  fill_uniform(y, n, 0.0f, 1.0f, 22);
  fill_whole(x, n, 100, 21);
  for (int i = 0; i < n; ++i) {
    const bool is_one = y[i] < share || i < kEnd || i >= n - kEnd;
    y[i] = (is_one ? 0.0f : -100.0f) - x[i];
  }
}
inline bool has_exact_inputs(const Shape&) { return true; }

/// The float32 numbers, rounded.
template <class T>
void fill_halves(const Data& host) {
  const float *const x = host[kX], *const y = host[kY];
  T *const half_x = host[kHalfX<T>], *const half_y = host[kHalfY<T>];
  for (int i = 0; i < length(host.shape); ++i) {
    half_x[i] = from_float<T>(x[i]);
    half_y[i] = from_float<T>(y[i]);
  }
}

/// The same numbers in all three types: x + y is random, and exp((x + y) * 2) neither underflows nor
/// overflows in any of them.
inline void fill(const Data& host) {
  const int n = length(host.shape);
  float *const x = host[kX], *const y = host[kY];
  if (host.exact) {
    fill_exact(x, y, n);
  } else {
    fill_uniform(x, n, -1.5f, 1.0f, 21);
    fill_uniform(y, n, -1.0f, 1.5f, 22);
  }
  fill_halves<__half>(host);
  fill_halves<__nv_bfloat16>(host);
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
  const float *const x = host[kX], *const y = host[kY];
  for (int i = 0; i < length(host.shape); ++i) {
    const Term term = reference_term(x[i], y[i]);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

template <class T>
void reference_halves(const Data& host, double* expected, double* magnitude) {
  const T *const x = host[kHalfX<T>], *const y = host[kHalfY<T>];
  for (int i = 0; i < length(host.shape); ++i) {
    const Term term = reference_term(to_float(x[i]), to_float(y[i]));
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

inline void reference_sum(const Data& host, double* expected, double* magnitude) {
  const float *const x = host[kX], *const y = host[kY];
  Term sum = {0, 0};
  for (int i = 0; i < length(host.shape); ++i) {
    const Term term = reference_term(x[i], y[i]);
    sum.value += term.value;
    sum.magnitude += term.magnitude;
  }
  *expected = sum.value;
  *magnitude = sum.magnitude;
}

constexpr auto kOut = output<float>("out", elements, reference_out, {&kX, &kY});
template <class T>
constexpr auto kHalfOut = output<T>(kIsFloat16<T> ? "out_float16" : "out_bfloat16", elements,
                                    reference_halves<T>, {&kHalfX<T>, &kHalfY<T>});
constexpr auto kSum = output<float>("sum", one, reference_sum, {&kX, &kY});

constexpr const Array* kArrays[] = {
    &kX,     &kY,       &kHalfX<__half>, &kHalfY<__half>, &kHalfX<__nv_bfloat16>, &kHalfY<__nv_bfloat16>,
    &kAdded, &kDoubled, &kPartial,       &kOut,           &kHalfOut<__half>,      &kHalfOut<__nv_bfloat16>,
    &kSum};

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

/// The row that the stages that compute `out` share, with expf unless their own says otherwise.
constexpr Stage kElementwise = {.output = {&kOut}, .roundings = expf_roundings};

}  // namespace DEVICE::add_mul_exp
