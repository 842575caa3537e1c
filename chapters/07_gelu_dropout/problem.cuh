/// \file
/// Chapter 07: what its stages share: the arrays, the inputs, the references, and how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "dropout.hpp"
#include "gelu.hpp"
#include "half_arrays.hpp"
#include "halves.hpp"
#include "vectors.cuh"

namespace DEVICE::gelu_dropout {

using namespace workbook;

constexpr int kThreads = 256;
constexpr float kEpsilon = 1e-5f;

// --- Arrays ---

inline long long rows(const Shape& shape) { return shape.dims[0]; }
inline long long columns(const Shape& shape) { return shape.dims[1]; }
inline long long elements(const Shape& shape) { return rows(shape) * columns(shape); }
inline int element_count(const Data& d) { return d.shape.dims[0] * d.shape.dims[1]; }

/// Elements of a warp whose lanes have two vectors of four floats each.
constexpr unsigned kChunk = 256;

/// One bit per element, in words of 32: chunks are whole.
inline long long mask_words(const Shape& shape) { return (elements(shape) + kChunk - 1) / kChunk * 8; }
inline long long two(const Shape&) { return 2; }

/// A table has a factor for each bfloat16 from -2^-14 to -16: these are the bits of 2^-14 and of 16.
constexpr unsigned kSmallest = 0x3880, kLargest = 0x4180, kFactors = kLargest - kSmallest + 1;
inline long long table_factors(const Shape&) { return kFactors; }

constexpr auto kX = input<float>("x", elements);
constexpr auto kDy = input<float>("dy", elements);
constexpr auto kBias = input<float>("bias", columns);
constexpr auto kResidual = input<float>("residual", elements);
constexpr auto kWeight = input<float>("weight", columns);
constexpr auto kXFloat16 = input<__half>("x_float16", elements);
constexpr auto kXBFloat16 = input<__nv_bfloat16>("x_bfloat16", elements);
constexpr auto kDyBFloat16 = input<__nv_bfloat16>("dy_bfloat16", elements);
constexpr auto kBiasBFloat16 = input<__nv_bfloat16>("bias_bfloat16", columns);
constexpr auto kResidualBFloat16 = input<__nv_bfloat16>("residual_bfloat16", elements);
constexpr auto kWeightBFloat16 = input<__nv_bfloat16>("weight_bfloat16", columns);
constexpr auto kSavedBytes = input<signed char>("saved_bytes", elements);
constexpr auto kSavedBits = input<unsigned>("saved_bits", mask_words);
constexpr auto kOffset = input<unsigned>("offset", two);
constexpr auto kMask = scratch<signed char>("mask", elements);
constexpr auto kActivated = scratch<float>("activated", elements);
constexpr auto kTable = scratch<float>("factors", table_factors);

// --- Dropout ---

/// The dropout of the stages whose numbers have `Bits` bits. On exact inputs, p is 0.5 and the scale 2.
template <int Bits>
Dropout dropout_of(const Data& d) {
  return make_dropout<Bits>(d.exact ? 0.5 : d.dropout.p, d.dropout.seed, d.dropout.offset);
}

/// The stages in float32 whose lanes have one, two and four vectors per call, and those in 16 bits.
using FourNumbers = Sharing<float, 1>;
using EightNumbers = Sharing<float, 2>;
using SixteenNumbers = Sharing<float, 4>;
using EightHalves = Sharing<__half, 1>;
using EightOfSevenRounds = Sharing<__half, 1, 7>;

/// A call of its own for each element, of which it takes one number.
struct OneNumber {
  static constexpr int kBits = 24, kRounds = 10;
  static FourNumbers::Place place(unsigned i) { return {i, 0}; }
};

/// Whether the dropout of a launch keeps element i, as the reference computes it.
template <class Numbers>
bool is_kept(const Dropout& dropout, unsigned i) {
  const auto at = Numbers::place(i);
  return !dropout.drops(
      number<Numbers::kBits>(dropout.random.after_rounds<Numbers::kRounds>(at.call), at.number));
}

// --- How far results may be off, in roundings of what the references call magnitude ---

/// GELU, and its derivative: at most 2 ulps of erff, tanhf and expf (CUDA C++ Programming Guide), 4 units of
/// 2^-24 each, the roundings of their arguments, and those of the products.
inline int gelu_roundings(const Shape&) { return 16; }

/// A lane adds up its elements one by one, at most columns / 32 of them or 8, and a tree adds up the lanes.
inline int row_roundings(const Shape& s) { return gelu_roundings(s) + s.dims[1] / 32 + 16; }

/// On exact inputs, in units of 2^-24, each at most one of the result: rsqrtf is off by at most 2.5 ulps, an
/// ulp is up to two units; the mean of squares and the sum with epsilon add half a unit each, both products
/// one.
inline int exact_norm_roundings(const Shape&) { return 8; }
inline int exact_sum_roundings(const Shape&) { return 1; }

// --- Inputs ---

/// Arrays in 16 bits hold those in float32, rounded.
template <class T>
void round_to(T* to, const float* from, long long count) {
  on_all_cores((count + 65535) / 65536, [&](long long part) {
    for (long long i = part * 65536; i < count && i < (part + 1) * 65536; ++i) to[i] = from_float<T>(from[i]);
  });
}

/// Whole numbers from 8 to 12, whose GELU is themselves in float32, and a residual from -16 to 0: sums of
/// squares of 2 x + residual stay below 2^24 in rows of at most 16384 columns.
inline void fill_exact(const Data& host) {
  const long long n = elements(host.shape);
  float *x = host[kX], *residual = host[kResidual];
  fill_whole(x, n, 2, 71);
  fill_whole(residual, n, 8, 74);
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i) {
      x[i] += 10.0f;
      residual[i] -= 8.0f;
    }
  });
}
inline bool has_exact_inputs(const Shape& s) { return s.dims[1] <= 16384; }

/// The mask that backward stages load is that of the forward pass.
inline void fill_masks(const Data& host) {
  const Dropout dropout = dropout_of<EightNumbers::kBits>(host);
  signed char* kept = host[kSavedBytes];
  unsigned* bits = host[kSavedBits];
  const unsigned n = static_cast<unsigned>(elements(host.shape));
  on_all_cores((n + kChunk - 1) / kChunk, [&](long long chunk) {
    unsigned* word = bits + 8 * chunk;
    for (int w = 0; w < 8; ++w) word[w] = 0;
    for (unsigned j = 0; j < kChunk; ++j) {
      const unsigned i = kChunk * static_cast<unsigned>(chunk) + j;
      if (i >= n) return;
      kept[i] = is_kept<EightNumbers>(dropout, i);
      word[j / 128 * 4 + j % 4] |= static_cast<unsigned>(kept[i]) << j / 4 % 32;
    }
  });
}

inline void fill(const Data& host) {
  const long long n = elements(host.shape);
  if (host.exact) {
    fill_exact(host);
  } else {
    fill_uniform(host[kX], n, -4.0f, 3.0f, 71);
    fill_uniform(host[kResidual], n, -1.0f, 2.0f, 74);
  }
  fill_uniform(host[kDy], n, -1.5f, 1.0f, 72);
  fill_uniform(host[kBias], columns(host.shape), -1.0f, 0.5f, 73);
  fill_uniform(host[kWeight], columns(host.shape), 0.5f, 1.5f, 75);
  round_to(host[kXFloat16], host[kX], n);
  round_to(host[kXBFloat16], host[kX], n);
  round_to(host[kDyBFloat16], host[kDy], n);
  round_to(host[kResidualBFloat16], host[kResidual], n);
  round_to(host[kBiasBFloat16], host[kBias], columns(host.shape));
  round_to(host[kWeightBFloat16], host[kWeight], columns(host.shape));
  host[kOffset][0] = static_cast<unsigned>(host.dropout.offset);
  host[kOffset][1] = static_cast<unsigned>(host.dropout.offset >> 32);
  fill_masks(host);
}

// --- References ---

struct ExactForm {
  static double value(double v) { return 0.5 * v * (1 + erf(v / sqrt(2.0))); }
  static double slope(double v) {
    return 0.5 * (1 + erf(v / sqrt(2.0))) + v * exp(-0.5 * v * v) / sqrt(2 * acos(-1.0));
  }
};

struct TanhForm {
  static double inner(double v) { return sqrt(2 / acos(-1.0)) * (v + 0.044715 * v * v * v); }
  static double value(double v) { return 0.5 * v * (1 + tanh(inner(v))); }
  static double slope(double v) {
    const double t = tanh(inner(v)), inner_slope = sqrt(2 / acos(-1.0)) * (1 + 3 * 0.044715 * v * v);
    return 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * inner_slope;
  }
};

/// A value, and the size of what it is made of.
struct Term {
  double value, magnitude;
};

/// Term i after dropout by `Numbers`: 0, or scaled.
template <class Numbers, class OneTerm>
Term dropped(const Dropout& dropout, long long i, OneTerm term) {
  if (!is_kept<Numbers>(dropout, static_cast<unsigned>(i))) return {0, 0};
  const double scale = 1 / (1 - dropout.threshold / static_cast<double>(1u << Numbers::kBits));
  const Term one = term(i);
  return {scale * one.value, scale * one.magnitude};
}

template <class Numbers, class OneTerm>
void reference_dropped(const Data& host, OneTerm term, double* expected, double* magnitude) {
  const Dropout dropout = dropout_of<Numbers::kBits>(host);
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i) {
      const Term one = dropped<Numbers>(dropout, i, term);
      expected[i] = one.value;
      magnitude[i] = one.magnitude;
    }
  });
}

/// gelu(v).
template <class Form>
Term gelu_term(double v) {
  return {Form::value(v), fabs(v)};
}

/// y = dropout(gelu(x)), of the array X.
template <class Numbers, class Form, const auto& X>
void reference_forward(const Data& host, double* expected, double* magnitude) {
  const auto* x = host[X];
  const auto term = [&](long long i) { return gelu_term<Form>(to_float(x[i])); };
  reference_dropped<Numbers>(host, term, expected, magnitude);
}

/// dx = the derivative of it, times dy.
template <class Numbers, class Form, const auto& X, const auto& Dy>
void reference_backward(const Data& host, double* expected, double* magnitude) {
  const auto *x = host[X], *dy = host[Dy];
  const auto term = [&](long long i) {
    const double v = to_float(x[i]), d = to_float(dy[i]);
    return Term{d * Form::slope(v), fabs(d) * (1 + fabs(v) * (1 + v * v) * exp(-0.5 * v * v))};
  };
  reference_dropped<Numbers>(host, term, expected, magnitude);
}

inline void reference_bytes(const Data& host, double* expected, double*) {
  const signed char* kept = host[kSavedBytes];
  for (long long i = 0; i < elements(host.shape); ++i) expected[i] = kept[i];
}
inline void reference_bits(const Data& host, double* expected, double*) {
  const unsigned* kept = host[kSavedBits];
  for (long long i = 0; i < mask_words(host.shape); ++i) expected[i] = kept[i];
}

/// sums[r] = the sum of dropout(gelu(x)) over row r.
inline void reference_sums(const Data& host, double* expected, double* magnitude) {
  const long long count = columns(host.shape);
  const Dropout dropout = dropout_of<EightHalves::kBits>(host);
  const __nv_bfloat16* x = host[kXBFloat16];
  const auto term = [&](long long i) { return gelu_term<ExactForm>(to_float(x[i])); };
  on_all_cores(rows(host.shape), [&](long long r) {
    expected[r] = magnitude[r] = 0;
    for (long long i = r * count; i < (r + 1) * count; ++i) {
      const Term one = dropped<EightHalves>(dropout, i, term);
      expected[r] += one.value;
      magnitude[r] += one.magnitude;
    }
  });
  take_own_magnitude(host, rows(host.shape), expected, magnitude);
}

/// Adds the residual in bfloat16 to values and their magnitudes.
inline void add_residual(const Data& host, double* values, double* magnitude) {
  const __nv_bfloat16* residual = host[kResidualBFloat16];
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i) {
      values[i] += to_float(residual[i]);
      magnitude[i] += fabs(to_float(residual[i]));
    }
  });
}

/// block = residual + dropout(gelu(x + bias)), in bfloat16.
inline void reference_block(const Data& host, double* expected, double* magnitude) {
  const __nv_bfloat16 *x = host[kXBFloat16], *bias = host[kBiasBFloat16];
  const auto term = [&](long long i) {
    const double v = to_float(x[i]), b = to_float(bias[i % columns(host.shape)]);
    return Term{ExactForm::value(v + b), 1.13 * (fabs(v) + fabs(b))};
  };
  reference_dropped<EightHalves>(host, term, expected, magnitude);
  add_residual(host, expected, magnitude);
}

/// h = residual + dropout(x), in bfloat16.
inline void reference_h(const Data& host, double* expected, double* magnitude) {
  const __nv_bfloat16* x = host[kXBFloat16];
  const auto term = [&](long long i) { return Term{to_float(x[i]), fabs(to_float(x[i]))}; };
  reference_dropped<EightHalves>(host, term, expected, magnitude);
  add_residual(host, expected, magnitude);
}

/// RMSNorm of h as it is stored, times weight.
inline void reference_norm(const Data& host, double* expected, double* magnitude) {
  const __nv_bfloat16* weight = host[kWeightBFloat16];
  const long long count = columns(host.shape);
  reference_h(host, expected, magnitude);
  on_all_cores(rows(host.shape), [&](long long r) {
    double *row = expected + r * count, *sizes = magnitude + r * count, squares = 0;
    for (long long c = 0; c < count; ++c) {
      row[c] = to_float(from_float<__nv_bfloat16>(static_cast<float>(row[c])));
      squares += row[c] * row[c];
    }
    const double inverse = 1 / sqrt(squares / static_cast<double>(count) + double{kEpsilon});
    for (long long c = 0; c < count; ++c) {
      row[c] *= inverse * to_float(weight[c]);
      sizes[c] *= inverse * fabs(to_float(weight[c]));
    }
  });
  take_own_magnitude(host, elements(host.shape), expected, magnitude);
}

constexpr auto kYOne = output<float>("y_one", elements, reference_forward<OneNumber, ExactForm, kX>, {&kX});
constexpr auto kYFour =
    output<float>("y_four", elements, reference_forward<FourNumbers, ExactForm, kX>, {&kX});
constexpr auto kY = output<float>("y", elements, reference_forward<EightNumbers, ExactForm, kX>, {&kX});
constexpr auto kYTanh =
    output<float>("y_tanh", elements, reference_forward<EightNumbers, TanhForm, kX>, {&kX});
constexpr auto kYSixteen =
    output<float>("y_sixteen", elements, reference_forward<SixteenNumbers, ExactForm, kX>, {&kX});
constexpr auto kYFloat16 =
    output<__half>("y_float16", elements, reference_forward<EightHalves, ExactForm, kXFloat16>, {&kXFloat16});
constexpr auto kYBFloat16 = output<__nv_bfloat16>(
    "y_bfloat16", elements, reference_forward<EightHalves, ExactForm, kXBFloat16>, {&kXBFloat16});
constexpr auto kYSevenRounds = output<__nv_bfloat16>(
    "y_seven_rounds", elements, reference_forward<EightOfSevenRounds, ExactForm, kXBFloat16>, {&kXBFloat16});
constexpr auto kYTanhBFloat16 = output<__nv_bfloat16>(
    "y_tanh_bfloat16", elements, reference_forward<EightHalves, TanhForm, kXBFloat16>, {&kXBFloat16});
constexpr auto kMaskBytes = output<signed char>("mask_bytes", elements, reference_bytes, {});
constexpr auto kMaskBits = output<unsigned>("mask_bits", mask_words, reference_bits, {});
constexpr auto kDx =
    output<float>("dx", elements, reference_backward<EightNumbers, ExactForm, kX, kDy>, {&kX, &kDy});
constexpr auto kDxByBytes = output<float>(
    "dx_by_bytes", elements, reference_backward<EightNumbers, ExactForm, kX, kDy>, {&kX, &kDy, &kSavedBytes});
constexpr auto kDxByBits = output<float>(
    "dx_by_bits", elements, reference_backward<EightNumbers, ExactForm, kX, kDy>, {&kX, &kDy, &kSavedBits});
constexpr auto kDxTanh =
    output<float>("dx_tanh", elements, reference_backward<EightNumbers, TanhForm, kX, kDy>, {&kX, &kDy});
constexpr auto kDxBFloat16 = output<__nv_bfloat16>(
    "dx_bfloat16", elements, reference_backward<EightHalves, ExactForm, kXBFloat16, kDyBFloat16>,
    {&kXBFloat16, &kDyBFloat16});
constexpr auto kSums = output<float>("sums", rows, reference_sums, {&kXBFloat16});
constexpr auto kBlock = output<__nv_bfloat16>("block", elements, reference_block,
                                              {&kXBFloat16, &kBiasBFloat16, &kResidualBFloat16});
constexpr auto kH = output<__nv_bfloat16>("h", elements, reference_h, {&kXBFloat16, &kResidualBFloat16});
constexpr auto kNorm = output<__nv_bfloat16>("norm", elements, reference_norm,
                                             {&kXBFloat16, &kResidualBFloat16, &kWeightBFloat16});

constexpr const Array* kArrays[] = {&kX,
                                    &kDy,
                                    &kBias,
                                    &kResidual,
                                    &kWeight,
                                    &kXFloat16,
                                    &kXBFloat16,
                                    &kDyBFloat16,
                                    &kBiasBFloat16,
                                    &kResidualBFloat16,
                                    &kWeightBFloat16,
                                    &kSavedBytes,
                                    &kSavedBits,
                                    &kOffset,
                                    &kMask,
                                    &kActivated,
                                    &kTable,
                                    &kYOne,
                                    &kYFour,
                                    &kY,
                                    &kYTanh,
                                    &kYSixteen,
                                    &kYFloat16,
                                    &kYBFloat16,
                                    &kYSevenRounds,
                                    &kYTanhBFloat16,
                                    &kMaskBytes,
                                    &kMaskBits,
                                    &kDx,
                                    &kDxByBytes,
                                    &kDxByBits,
                                    &kDxTanh,
                                    &kDxBFloat16,
                                    &kSums,
                                    &kBlock,
                                    &kH,
                                    &kNorm};

// --- What several stages share ---

/// The rows that the stages of the forward and of the backward pass share.
constexpr Stage kForward = {.roundings = gelu_roundings};
constexpr Stage kBackward = {.roundings = gelu_roundings, .against = "07_byte_mask"};

/// Bytes of the sectors that an array of n elements costs in vectors of 16 bytes. Each element left over is
/// an access of its own.
inline long long vector_bytes(const Shape& s, int bytes_each) {
  const long long n = elements(s), left = n % (16 / bytes_each);
  return sector_bytes(n - left, bytes_each) + 32 * left;
}

}  // namespace DEVICE::gelu_dropout
