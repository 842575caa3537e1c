/// \file
/// Chapter 04: what its stages share: the arrays, the inputs, the references, the bytes that rows cost, and
/// how far float32 may be off.
#pragma once
#include <math.h>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "exact_rows.cuh"
#include "half_arrays.hpp"
#include "halves.hpp"

namespace DEVICE::relu_layernorm {

using namespace workbook;

/// PyTorch's default.
constexpr float kEpsilon = 1e-5f;

/// Threads of a block in kernels with one thread per element.
constexpr int kThreads = 256;

/// Threads of a block in stages 2 to 4 and 7 to 9, which have one block per row.
constexpr int kRowThreads = 256;

// --- Arrays ---

inline long long rows(const Shape& shape) { return shape.dims[0]; }
inline long long columns(const Shape& shape) { return shape.dims[1]; }
inline long long elements(const Shape& shape) { return rows(shape) * columns(shape); }

/// What kernels are told of a shape.
struct Sizes {
  int rows, columns, n;
};
inline Sizes sizes(const Shape& s) { return {s.dims[0], s.dims[1], s.dims[0] * s.dims[1]}; }

/// Elements in a vector of the stages that load 16 bytes at a time where all rows begin at multiples of 16.
inline int width(const Shape& s) { return s.dims[1] % 4 == 0 ? 4 : 1; }

/// Threads of a block of 06_columns: kTileVectors vectors side by side, in kTileRows rows.
constexpr int kTileVectors = 32, kTileRows = 16;

/// Slices of the rows in 06_columns: enough blocks for a large GPU, and enough rows in each slice.
inline int slices(const Shape& shape) {
  const int wanted = ceil_div(512, ceil_div(shape.dims[1], kTileVectors * width(shape)));
  const int most = ceil_div(shape.dims[0], 4 * kTileRows);
  return wanted < most ? wanted : most;
}
inline long long slice_sums(const Shape& shape) { return slices(shape) * columns(shape); }

/// Threads of a block of 12_split_rows, and the elements of a row that it has: 64 bytes per thread.
constexpr int kChunkThreads = 512, kChunk = 16 * kChunkThreads;

inline int chunks(const Shape& shape) { return ceil_div(shape.dims[1], kChunk); }
inline long long all_chunks(const Shape& shape) { return rows(shape) * chunks(shape); }

/// CUB's working memory; it needs one byte.
inline long long storage_bytes(const Shape&) { return 1024; }

// Of float, __half and __nv_bfloat16; stages in float32 alone leave out the type.
template <class T>
constexpr auto kXOf = input<T>(name_of<T>("x", "x_float16", "x_bfloat16"), elements);
template <class T>
constexpr auto kWeightOf = input<T>(name_of<T>("weight", "weight_float16", "weight_bfloat16"), columns);
template <class T>
constexpr auto kBiasOf = input<T>(name_of<T>("bias", "bias_float16", "bias_bfloat16"), columns);
inline constexpr auto &kX = kXOf<float>, &kWeight = kWeightOf<float>, &kBias = kBiasOf<float>;

/// Of float and __nv_bfloat16.
template <class T>
constexpr auto kResidual = input<T>(kIsFloat<T> ? "residual" : "residual_bfloat16", elements);

constexpr auto kSliceSums = scratch<float>("slice_sums", slice_sums);
constexpr auto kRectified = scratch<float>("rectified", elements);
constexpr auto kRowMean = scratch<float>("row_mean", rows);
constexpr auto kRowInverse = scratch<float>("row_inverse", rows);
constexpr auto kNormalised = scratch<float>("normalised", elements);
constexpr auto kChunkMeans = scratch<float>("chunk_means", all_chunks);
constexpr auto kChunkSquares = scratch<float>("chunk_squares", all_chunks);
constexpr auto kStorage = scratch<signed char>("storage", storage_bytes);
// --- How far results may be off ---

/// The roundings of `additions` successive additions that bound their error with a probability close to 1:
/// the errors are as often positive as negative (N. Higham, T. Mary, A new approach to probabilistic rounding
/// error analysis, 2019).
inline int chain_roundings(int additions) {
  const int probable = 6 * static_cast<int>(ceil(sqrt(static_cast<double>(additions))));
  return (probable < additions ? probable : additions) + 12;
}

/// Each thread, of at least 32, adds up its share of a row one by one, and a tree adds up the threads.
inline int sum_roundings(const Shape& s) { return chain_roundings(ceil_div(s.dims[1], 32)); }

/// The error of the mean, half that of the variance, 2 ulps of the reciprocal root, and what follows it.
inline int row_roundings(const Shape& s) { return 2 * sum_roundings(s) + 12; }

/// On exact inputs, sums are exact, and a mean is divided once.
inline int exact_sum_roundings(const Shape&) { return 1; }

/// On exact inputs, in units of 2^-24: rsqrtf is off by at most 2 ulps from the rounded result (CUDA C++
/// Programming Guide), so by 2.5 from the true one, which is just below a power of two, where an ulp is 1
/// unit. (In rows of 3 it is 3.6 units.) Variance + epsilon adds half a unit, each of product and sum adds
/// one; a weight is a power of two.
inline int exact_row_roundings(const Shape&) { return 5; }

// --- Inputs and references ---

inline void fill_exact(const Data& host, int most) {
  const Sizes s = sizes(host.shape);
  float *const x = host[kX], *const weight = host[kWeight], *const bias = host[kBias];
  on_all_cores(s.rows,
               [&](long long r) { fill_exact_row(x + r * s.columns, s.columns, static_cast<int>(r), most); });
  for (int c = 0; c < s.columns; ++c) {
    weight[c] = exact_weight(c);
    bias[c] = exact_bias(c);
  }
}

/// Rows differ in scale and in offset.
inline void fill_random(const Data& host) {
  const Sizes s = sizes(host.shape);
  float* const x = host[kX];
  fill_uniform(x, s.n, -2.0f, 3.0f, 41);
  fill_uniform(host[kWeight], s.columns, 0.5f, 1.5f, 42);
  fill_uniform(host[kBias], s.columns, -1.0f, 0.5f, 43);
  on_all_cores(s.rows, [&](long long r) {
    float of_row[2];
    fill_uniform(of_row, 2, 0.25f, 1.0f, 1000u + static_cast<unsigned>(r));
    float* row = x + r * s.columns;
    for (int c = 0; c < s.columns; ++c) row[c] = row[c] * of_row[0] + of_row[1];
  });
}

/// x, weight and bias in 16 bits, rounded. Exact numbers are not rounded: bfloat16 holds whole ones up to
/// 256.
template <class T>
void fill_halves(const Data& host, float last_place) {
  const Sizes s = sizes(host.shape);
  const float *const x = host[kX], *const weight = host[kWeight], *const bias = host[kBias];
  T *const half_x = host[kXOf<T>], *const half_weight = host[kWeightOf<T>],
           *const half_bias = host[kBiasOf<T>];
  on_all_cores(s.rows, [&](long long r) {
    for (long long i = r * s.columns; i < (r + 1) * s.columns; ++i) half_x[i] = from_float<T>(x[i]);
  });
  for (int c = 0; c < s.columns; ++c) {
    half_weight[c] = from_float<T>(host.exact ? exact_half_weight(c, last_place) : weight[c]);
    half_bias[c] = from_float<T>(host.exact ? exact_half_bias(c) : bias[c]);
  }
}

/// On exact inputs, h = x + residual has the distances of fill_distances(), whose squares have the mean 4.
inline void fill_exact_residual(const Data& host) {
  const Sizes s = sizes(host.shape);
  const float* const x = host[kX];
  const __nv_bfloat16* const half_x = host[kXOf<__nv_bfloat16>];
  float* const residual = host[kResidual<float>];
  __nv_bfloat16* const half_residual = host[kResidual<__nv_bfloat16>];
  on_all_cores(s.rows, [&](long long r) {
    const long long first = r * s.columns;
    fill_distances(residual + first, s.columns, r % 2 == 0, static_cast<unsigned>(r + s.rows));
    for (long long i = first; i < first + s.columns; ++i) {
      const float h = r % 4 == 3 ? 2 * residual[i] : residual[i];
      residual[i] = h - x[i];
      half_residual[i] = from_float<__nv_bfloat16>(h - to_float(half_x[i]));
    }
  });
}

inline void fill_random_residual(const Data& host) {
  float* const residual = host[kResidual<float>];
  __nv_bfloat16* const half_residual = host[kResidual<__nv_bfloat16>];
  fill_uniform(residual, elements(host.shape), -1.0f, 2.0f, 44);
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i)
      half_residual[i] = from_float<__nv_bfloat16>(residual[i]);
  });
}

inline void fill(const Data& host) {
  host.exact ? fill_exact(host, 125) : fill_random(host);
  fill_halves<__half>(host, 0x1p-10f);
  fill_halves<__nv_bfloat16>(host, 0x1p-7f);
  if (host.exact) fill_exact(host, 1501);
  host.exact ? fill_exact_residual(host) : fill_random_residual(host);
}

inline double squared(double x) { return x * x; }
inline double absolute(double x) { return fabs(x); }

/// expected[r], or with `along_columns` expected[c], = the sum of term(x) along the other dimension, divided
/// by `divisor`.
template <class Term>
void reference_sums(const Data& host, Term term, bool along_columns, double divisor, double* expected,
                    double* magnitude) {
  constexpr int kSide = 64;  // columns of a part, so that a row's are beside each other
  const Sizes s = sizes(host.shape);
  const float* const x = host[kX];
  const int count = along_columns ? s.columns : s.rows, side = along_columns ? kSide : 1;
  on_all_cores(ceil_div(count, side), [&](long long part) {
    const long long first = part * side, last = first + side < count ? first + side : count;
    for (long long i = first; i < last; ++i) expected[i] = 0;
    for (long long other = 0; other < (along_columns ? s.rows : s.columns); ++other)
      for (long long i = first; i < last; ++i)
        expected[i] += term(x[along_columns ? other * s.columns + i : i * s.columns + other]);
    for (long long i = first; i < last; ++i) magnitude[i] = expected[i] /= divisor;
  });
}

inline void reference_squares(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, squared, false, 1, expected, magnitude);
  for (int r = 0; host.exact && r < host.shape.dims[0]; ++r)
    if (is_far(r)) magnitude[r] *= host.shape.dims[1];  // this sum may be rounded with every addition
}
inline void reference_row_means(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, absolute, false, host.shape.dims[1], expected, magnitude);
}
inline void reference_means(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, absolute, true, host.shape.dims[0], expected, magnitude);
}
inline void reference_column_squares(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, squared, true, 1, expected, magnitude);
}

inline double relu_of(double x) { return x < 0 ? 0 : x; }

/// y from `number(i)`, element i of x, `weight(c)` and `bias(c)`. An error of the mean moves the whole row,
/// so the terms of an element are the element itself and those of the mean. Exact inputs have an exact mean,
/// so that the distance from it is the term (but in rows far from 0, where it is small).
template <class Number, class Weight, class Bias>
void reference_rows(const Data& host, Number number, Weight weight, Bias bias, bool relu_last,
                    double* expected, double* magnitude) {
  const Sizes s = sizes(host.shape);
  on_all_cores(s.rows, [&](long long r) {
    const long long first = r * s.columns;
    const auto input = [&](int c) { return relu_last ? number(first + c) : relu_of(number(first + c)); };
    const bool exact_mean = host.exact && !is_far(static_cast<int>(r));
    double sum = 0, size = 0, squares = 0;
    for (int c = 0; c < s.columns; ++c) {
      sum += input(c);
      size += fabs(input(c));
    }
    const double mean = sum / s.columns;
    for (int c = 0; c < s.columns; ++c) squares += (input(c) - mean) * (input(c) - mean);
    const double inverse = 1 / sqrt(squares / s.columns + double{kEpsilon});
    for (int c = 0; c < s.columns; ++c) {
      const double factor = inverse * weight(c), shift = bias(c);
      const double distance = input(c) - mean, result = distance * factor + shift;
      const double terms = exact_mean ? fabs(distance) : fabs(input(c)) + size / s.columns;
      expected[first + c] = relu_last ? relu_of(result) : result;
      magnitude[first + c] = terms * fabs(factor) + fabs(shift);
    }
  });
}

template <bool ReluLast, bool Affine>
void reference_y(const Data& host, double* expected, double* magnitude) {
  const float *const x = host[kX], *const weight = host[kWeight], *const bias = host[kBias];
  reference_rows(
      host, [&](long long i) { return double{x[i]}; }, [&](int c) { return Affine ? double{weight[c]} : 1; },
      [&](int c) { return Affine ? double{bias[c]} : 0; }, ReluLast, expected, magnitude);
}

template <class T>
void reference_half(const Data& host, double* expected, double* magnitude) {
  const T *const x = host[kXOf<T>], *const weight = host[kWeightOf<T>], *const bias = host[kBiasOf<T>];
  reference_rows(
      host, [&](long long i) { return double{to_float(x[i])}; },
      [&](int c) { return double{to_float(weight[c])}; }, [&](int c) { return double{to_float(bias[c])}; },
      false, expected, magnitude);
}

template <class T>
void reference_h(const Data& host, double* expected, double* magnitude) {
  const T *const x = host[kXOf<T>], *const residual = host[kResidual<T>];
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i) {
      const double a = to_float(x[i]), b = to_float(residual[i]);
      expected[i] = a + b;
      magnitude[i] = fabs(a) + fabs(b);
    }
  });
}

/// From h as it is stored: rounded to T.
template <class T>
void reference_rms(const Data& host, double* expected, double* magnitude) {
  const T* const weight = host[kWeightOf<T>];
  reference_h<T>(host, expected, magnitude);
  const int count = host.shape.dims[1];
  on_all_cores(rows(host.shape), [&](long long r) {
    double* row = expected + r * count;
    double* sizes = magnitude + r * count;
    double squares = 0;
    for (int c = 0; c < count; ++c) {
      row[c] = to_float(from_float<T>(static_cast<float>(row[c])));
      squares += row[c] * row[c];
    }
    const double inverse = 1 / sqrt(squares / count + double{kEpsilon});
    for (int c = 0; c < count; ++c) {
      row[c] *= inverse * to_float(weight[c]);
      sizes[c] *= inverse * fabs(to_float(weight[c]));
    }
  });
  take_own_magnitude(host, elements(host.shape), expected, magnitude);
}

constexpr auto kSquares = output<float>("squares", rows, reference_squares, {&kX});
constexpr auto kRowMeans = output<float>("row_means", rows, reference_row_means, {&kX});
constexpr auto kMeans = output<float>("means", columns, reference_means, {&kX});
constexpr auto kColumnSquares = output<float>("column_squares", columns, reference_column_squares, {&kX});
constexpr auto kY = output<float>("y", elements, reference_y<false, true>, {&kX, &kWeight, &kBias});
constexpr auto kYLast = output<float>("y_last", elements, reference_y<true, true>, {&kX, &kWeight, &kBias});
constexpr auto kYPlain = output<float>("y_plain", elements, reference_y<false, false>, {&kX});

template <class T>
constexpr auto kHalfY = output<T>(kIsFloat16<T> ? "y_float16" : "y_bfloat16", elements, reference_half<T>,
                                  {&kXOf<T>, &kWeightOf<T>, &kBiasOf<T>});
template <class T>
constexpr auto kH = output<T>(kIsFloat<T> ? "h" : "h_bfloat16", elements, reference_h<T>,
                              {&kXOf<T>, &kResidual<T>});
template <class T>
constexpr auto kYRms = output<T>(kIsFloat<T> ? "y_rms" : "y_rms_bfloat16", elements, reference_rms<T>,
                                 {&kXOf<T>, &kResidual<T>, &kWeightOf<T>});

using Float16 = __half;
using BFloat16 = __nv_bfloat16;

constexpr const Array* kArrays[] = {&kX,
                                    &kWeight,
                                    &kBias,
                                    &kSliceSums,
                                    &kRectified,
                                    &kRowMean,
                                    &kRowInverse,
                                    &kNormalised,
                                    &kChunkMeans,
                                    &kChunkSquares,
                                    &kStorage,
                                    &kSquares,
                                    &kRowMeans,
                                    &kMeans,
                                    &kColumnSquares,
                                    &kY,
                                    &kYLast,
                                    &kYPlain,
                                    &kXOf<Float16>,
                                    &kWeightOf<Float16>,
                                    &kBiasOf<Float16>,
                                    &kHalfY<Float16>,
                                    &kXOf<BFloat16>,
                                    &kWeightOf<BFloat16>,
                                    &kBiasOf<BFloat16>,
                                    &kHalfY<BFloat16>,
                                    &kResidual<float>,
                                    &kH<float>,
                                    &kYRms<float>,
                                    &kResidual<BFloat16>,
                                    &kH<BFloat16>,
                                    &kYRms<BFloat16>};

// --- What several stages share ---

constexpr const char* kBlockPerRow = "rows of at most 1048576 columns";
constexpr const char* kRegisters = "rows of at most 16384 columns";

/// The row that stages share that reduce rows, to their sums of squares unless their own says otherwise.
constexpr Stage kReducesRows = {.output = {&kSquares},
                                .roundings = sum_roundings,
                                .exact_roundings = exact_sum_roundings,
                                .needs = kBlockPerRow};
/// The row that stages share that normalise rows.
constexpr Stage kNormalises = {.output = {&kY},
                               .roundings = row_roundings,
                               .exact_roundings = exact_row_roundings,
                               .against = "07_unfused"};
/// The row that the stages of residual and RMSNorm share.
constexpr Stage kAddsResidual = {.roundings = row_roundings,
                                 .exact_roundings = exact_row_roundings,
                                 .needs = kRegisters,
                                 .against = "16_residual"};

/// The stages with one block per row.
inline bool suits_block_per_row(const Shape& s) { return s.dims[1] <= 1 << 20; }

/// Bytes that warps load or store when they go through the rows of x or y once, `width` elements per lane.
/// The arrays start on a sector boundary; the rows need not.
inline long long once(const Shape& s, int width = 1) { return row_sector_bytes(s, 4, width); }

/// Bytes of one value per row, which `warps` warps of each row load or store: a sector each time.
inline long long row_values(const Shape& s, int warps = 1) { return 32 * warps * rows(s); }

/// Bytes of weight and bias.
inline long long parameters(const Shape& s) { return 2 * sector_bytes(columns(s)); }

/// Adds weight and bias, which the stage loads `times` times: the first time from memory, then from a cache.
inline Traffic with_parameters(const Shape& s, long long read, long long write, long long times) {
  return {read + times * parameters(s), write, (times - 1) * parameters(s)};
}

}  // namespace DEVICE::relu_layernorm
