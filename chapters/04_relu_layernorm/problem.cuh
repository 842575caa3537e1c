/// \file
/// Chapter 04: what its stages share: the arrays, the inputs, the references, the bytes that rows cost, and
/// how far float32 may be off.
#pragma once
#include <math.h>

#include <type_traits>

#include "ceil_div.hpp"
#include "chapter.hpp"
#include "device.hpp"
#include "exact_rows.cuh"
#include "halves.hpp"

namespace DEVICE::relu_layernorm {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::gpu_only;
using workbook::library;
using workbook::on_all_cores;
using workbook::Role;
using workbook::row_sector_bytes;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::stage;
using workbook::Traffic;
using workbook::Type;

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

struct Arrays {
  int rows, columns, n;
  float *x, *weight, *bias;
  float *squares, *row_means, *means, *column_squares, *slice_sums;
  float *rectified, *row_mean, *row_inverse, *normalised, *chunk_means, *chunk_squares;
  float *y, *y_last, *y_plain;
  void* storage;
};

inline Arrays arrays(const Data& d) {
  return {.rows = d.shape.dims[0],
          .columns = d.shape.dims[1],
          .n = d.shape.dims[0] * d.shape.dims[1],
          .x = d.floats("x"),
          .weight = d.floats("weight"),
          .bias = d.floats("bias"),
          .squares = d.floats("squares"),
          .row_means = d.floats("row_means"),
          .means = d.floats("means"),
          .column_squares = d.floats("column_squares"),
          .slice_sums = d.floats("slice_sums"),
          .rectified = d.floats("rectified"),
          .row_mean = d.floats("row_mean"),
          .row_inverse = d.floats("row_inverse"),
          .normalised = d.floats("normalised"),
          .chunk_means = d.floats("chunk_means"),
          .chunk_squares = d.floats("chunk_squares"),
          .y = d.floats("y"),
          .y_last = d.floats("y_last"),
          .y_plain = d.floats("y_plain"),
          .storage = d.array("storage", Type::kInt8)};
}

/// The arrays of stage 14: T is __half or __nv_bfloat16.
template <class T>
struct Halves {
  T *x, *weight, *bias, *y;
};

template <class T>
Halves<T> half_arrays(const Data& d) {
  constexpr bool kFloat16 = std::is_same_v<T, __half>;
  const auto array = [&](const char* float16, const char* bfloat16) {
    return static_cast<T*>(kFloat16 ? d.array(float16, Type::kFloat16) : d.array(bfloat16, Type::kBFloat16));
  };
  return {.x = array("x_float16", "x_bfloat16"),
          .weight = array("weight_float16", "weight_bfloat16"),
          .bias = array("bias_float16", "bias_bfloat16"),
          .y = array("y_float16", "y_bfloat16")};
}

/// The arrays of stage 16: T is float or __nv_bfloat16.
template <class T>
struct Residual {
  T *x, *residual, *weight, *h, *y;
};

template <class T>
Residual<T> residual_arrays(const Data& d) {
  constexpr bool kFloat32 = std::is_same_v<T, float>;
  const auto array = [&](const char* float32, const char* bfloat16) {
    return static_cast<T*>(kFloat32 ? d.array(float32, Type::kFloat32) : d.array(bfloat16, Type::kBFloat16));
  };
  return {.x = array("x", "x_bfloat16"),
          .residual = array("residual", "residual_bfloat16"),
          .weight = array("weight", "weight_bfloat16"),
          .h = array("h", "h_bfloat16"),
          .y = array("y_rms", "y_rms_bfloat16")};
}

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

inline void fill_exact(const Arrays& a, int most) {
  on_all_cores(a.rows, [&](long long r) {
    fill_exact_row(a.x + r * a.columns, a.columns, static_cast<int>(r), most);
  });
  for (int c = 0; c < a.columns; ++c) {
    a.weight[c] = exact_weight(c);
    a.bias[c] = exact_bias(c);
  }
}

/// Rows differ in scale and in offset.
inline void fill_random(const Arrays& a) {
  workbook::fill_uniform(a.x, a.n, -2.0f, 3.0f, 41);
  workbook::fill_uniform(a.weight, a.columns, 0.5f, 1.5f, 42);
  workbook::fill_uniform(a.bias, a.columns, -1.0f, 0.5f, 43);
  on_all_cores(a.rows, [&](long long r) {
    float of_row[2];
    workbook::fill_uniform(of_row, 2, 0.25f, 1.0f, 1000u + static_cast<unsigned>(r));
    float* row = a.x + r * a.columns;
    for (int c = 0; c < a.columns; ++c) row[c] = row[c] * of_row[0] + of_row[1];
  });
}

/// x, weight and bias in 16 bits, rounded. Exact numbers are not rounded: bfloat16 holds whole ones up to
/// 256.
template <class T>
void fill_halves(const Data& host, float last_place) {
  const Arrays a = arrays(host);
  const Halves<T> half = half_arrays<T>(host);
  on_all_cores(a.rows, [&](long long r) {
    for (long long i = r * a.columns; i < (r + 1) * a.columns; ++i) half.x[i] = from_float<T>(a.x[i]);
  });
  for (int c = 0; c < a.columns; ++c) {
    half.weight[c] = from_float<T>(host.exact ? exact_half_weight(c, last_place) : a.weight[c]);
    half.bias[c] = from_float<T>(host.exact ? exact_half_bias(c) : a.bias[c]);
  }
}

/// On exact inputs, h = x + residual has the distances of fill_distances(), whose squares have the mean 4.
inline void fill_exact_residual(const Data& host) {
  const Arrays a = arrays(host);
  const Residual<float> wide = residual_arrays<float>(host);
  const Residual<__nv_bfloat16> narrow = residual_arrays<__nv_bfloat16>(host);
  on_all_cores(a.rows, [&](long long r) {
    const long long first = r * a.columns;
    fill_distances(wide.residual + first, a.columns, r % 2 == 0, static_cast<unsigned>(r + a.rows));
    for (long long i = first; i < first + a.columns; ++i) {
      const float h = r % 4 == 3 ? 2 * wide.residual[i] : wide.residual[i];
      wide.residual[i] = h - wide.x[i];
      narrow.residual[i] = from_float<__nv_bfloat16>(h - to_float(narrow.x[i]));
    }
  });
}

inline void fill_random_residual(const Data& host) {
  const Residual<float> wide = residual_arrays<float>(host);
  const Residual<__nv_bfloat16> narrow = residual_arrays<__nv_bfloat16>(host);
  workbook::fill_uniform(wide.residual, elements(host.shape), -1.0f, 2.0f, 44);
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i)
      narrow.residual[i] = from_float<__nv_bfloat16>(wide.residual[i]);
  });
}

inline void fill(const Data& host) {
  const Arrays a = arrays(host);
  host.exact ? fill_exact(a, 125) : fill_random(a);
  fill_halves<__half>(host, 0x1p-10f);
  fill_halves<__nv_bfloat16>(host, 0x1p-7f);
  if (host.exact) fill_exact(a, 1501);
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
  const Arrays a = arrays(host);
  const int count = along_columns ? a.columns : a.rows, side = along_columns ? kSide : 1;
  on_all_cores(ceil_div(count, side), [&](long long part) {
    const long long first = part * side, last = first + side < count ? first + side : count;
    for (long long i = first; i < last; ++i) expected[i] = 0;
    for (long long other = 0; other < (along_columns ? a.rows : a.columns); ++other)
      for (long long i = first; i < last; ++i)
        expected[i] += term(a.x[along_columns ? other * a.columns + i : i * a.columns + other]);
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
  const Arrays a = arrays(host);
  on_all_cores(a.rows, [&](long long r) {
    const long long first = r * a.columns;
    const auto input = [&](int c) { return relu_last ? number(first + c) : relu_of(number(first + c)); };
    const bool exact_mean = host.exact && !is_far(static_cast<int>(r));
    double sum = 0, size = 0, squares = 0;
    for (int c = 0; c < a.columns; ++c) {
      sum += input(c);
      size += fabs(input(c));
    }
    const double mean = sum / a.columns;
    for (int c = 0; c < a.columns; ++c) squares += (input(c) - mean) * (input(c) - mean);
    const double inverse = 1 / sqrt(squares / a.columns + double{kEpsilon});
    for (int c = 0; c < a.columns; ++c) {
      const double factor = inverse * weight(c), shift = bias(c);
      const double distance = input(c) - mean, result = distance * factor + shift;
      const double terms = exact_mean ? fabs(distance) : fabs(input(c)) + size / a.columns;
      expected[first + c] = relu_last ? relu_of(result) : result;
      magnitude[first + c] = terms * fabs(factor) + fabs(shift);
    }
  });
}

template <bool ReluLast, bool Affine>
void reference_y(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  reference_rows(
      host, [&](long long i) { return double{a.x[i]}; },
      [&](int c) { return Affine ? double{a.weight[c]} : 1; },
      [&](int c) { return Affine ? double{a.bias[c]} : 0; }, ReluLast, expected, magnitude);
}

template <class T>
void reference_half(const Data& host, double* expected, double* magnitude) {
  const Halves<T> half = half_arrays<T>(host);
  reference_rows(
      host, [&](long long i) { return double{to_float(half.x[i])}; },
      [&](int c) { return double{to_float(half.weight[c])}; },
      [&](int c) { return double{to_float(half.bias[c])}; }, false, expected, magnitude);
}

template <class T>
void reference_h(const Data& host, double* expected, double* magnitude) {
  const Residual<T> a = residual_arrays<T>(host);
  on_all_cores(rows(host.shape), [&](long long r) {
    for (long long i = r * columns(host.shape); i < (r + 1) * columns(host.shape); ++i) {
      const double x = to_float(a.x[i]), residual = to_float(a.residual[i]);
      expected[i] = x + residual;
      magnitude[i] = fabs(x) + fabs(residual);
    }
  });
}

/// From h as it is stored: rounded to T.
template <class T>
void reference_rms(const Data& host, double* expected, double* magnitude) {
  const Residual<T> a = residual_arrays<T>(host);
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
      row[c] *= inverse * to_float(a.weight[c]);
      sizes[c] *= inverse * fabs(to_float(a.weight[c]));
    }
  });
  workbook::take_own_magnitude(host, elements(host.shape), expected, magnitude);
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
    {"bias", Type::kFloat32, Role::kInput, columns, nullptr},
    {"slice_sums", Type::kFloat32, Role::kScratch, slice_sums, nullptr},
    {"rectified", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"row_mean", Type::kFloat32, Role::kScratch, rows, nullptr},
    {"row_inverse", Type::kFloat32, Role::kScratch, rows, nullptr},
    {"normalised", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"chunk_means", Type::kFloat32, Role::kScratch, all_chunks, nullptr},
    {"chunk_squares", Type::kFloat32, Role::kScratch, all_chunks, nullptr},
    {"storage", Type::kInt8, Role::kScratch, storage_bytes, nullptr},
    {"squares", Type::kFloat32, Role::kOutput, rows, reference_squares, "x"},
    {"row_means", Type::kFloat32, Role::kOutput, rows, reference_row_means, "x"},
    {"means", Type::kFloat32, Role::kOutput, columns, reference_means, "x"},
    {"column_squares", Type::kFloat32, Role::kOutput, columns, reference_column_squares, "x"},
    {"y", Type::kFloat32, Role::kOutput, elements, reference_y<false, true>, "x weight bias"},
    {"y_last", Type::kFloat32, Role::kOutput, elements, reference_y<true, true>, "x weight bias"},
    {"y_plain", Type::kFloat32, Role::kOutput, elements, reference_y<false, false>, "x"},
    {"x_float16", Type::kFloat16, Role::kInput, elements, nullptr},
    {"weight_float16", Type::kFloat16, Role::kInput, columns, nullptr},
    {"bias_float16", Type::kFloat16, Role::kInput, columns, nullptr},
    {"y_float16", Type::kFloat16, Role::kOutput, elements, reference_half<__half>,
     "x_float16 weight_float16 bias_float16"},
    {"x_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"weight_bfloat16", Type::kBFloat16, Role::kInput, columns, nullptr},
    {"bias_bfloat16", Type::kBFloat16, Role::kInput, columns, nullptr},
    {"y_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_half<__nv_bfloat16>,
     "x_bfloat16 weight_bfloat16 bias_bfloat16"},
    {"residual", Type::kFloat32, Role::kInput, elements, nullptr},
    {"h", Type::kFloat32, Role::kOutput, elements, reference_h<float>, "x residual"},
    {"y_rms", Type::kFloat32, Role::kOutput, elements, reference_rms<float>, "x residual weight"},
    {"residual_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"h_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_h<__nv_bfloat16>,
     "x_bfloat16 residual_bfloat16"},
    {"y_rms_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_rms<__nv_bfloat16>,
     "x_bfloat16 residual_bfloat16 weight_bfloat16"},
};

// --- What several stages share ---

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
