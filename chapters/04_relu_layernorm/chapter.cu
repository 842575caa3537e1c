/// \file
/// Chapter 04: reductions, then y = layernorm(relu(x)). Stages, inputs and reference; compiled once for each
/// device.
#include <math.h>

#include "10_long_rows.cuh"
#include "10_one_read.cuh"
#include "11_warp_a_row.cuh"
#include "12_split_rows.cuh"
#include "13_persistent.cuh"
#include "14_half.cuh"
#include "1_atomic.cuh"
#include "2_conflicts.cuh"
#include "3_tree.cuh"
#include "4_shuffles.cuh"
#include "5_vectorised.cuh"
#include "6_columns.cuh"
#include "7_unfused.cuh"
#include "8_three_passes.cuh"
#include "9_two_passes.cuh"
#include "chapter.hpp"
#ifdef __CUDACC__
#include "12_clusters.gpu.cuh"
#endif
#if defined(__CUDACC__) && __has_include(<cub/device/device_segmented_reduce.cuh>)
#define HAS_CUB
#include "15_cub.gpu.cuh"
#endif

namespace DEVICE::relu_layernorm {
namespace {

using workbook::Array;
using workbook::ceil_div;
using workbook::Chapter;
using workbook::Data;
using workbook::Role;
using workbook::row_sector_bytes;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::Traffic;
using workbook::Type;

/// PyTorch's default.
constexpr float kEpsilon = 1e-5f;

// --- Arrays ---

long long rows(const Shape& shape) { return shape.dims[0]; }
long long columns(const Shape& shape) { return shape.dims[1]; }
long long elements(const Shape& shape) { return rows(shape) * columns(shape); }

/// Elements in a vector of stages that ask for 16 bytes at a time where rows begin at multiples of them.
int width(const Shape& s) { return s.dims[1] % 4 == 0 ? 4 : 1; }

/// Slices of the rows in stage 6: enough blocks for a large GPU, and rows enough for a slice.
int slices(const Shape& shape) {
  const int wanted = ceil_div(512, ceil_div(shape.dims[1], kTileVectors * width(shape)));
  const int most = ceil_div(shape.dims[0], 4 * kTileRows);
  return wanted < most ? wanted : most;
}
long long slice_sums(const Shape& shape) { return slices(shape) * columns(shape); }

int chunks(const Shape& shape) { return ceil_div(shape.dims[1], kChunk); }
long long all_chunks(const Shape& shape) { return rows(shape) * chunks(shape); }

/// Of CUB's working memory; it wants a byte.
long long storage_floats(const Shape&) { return 256; }

struct Arrays {
  int rows, columns, n;
  float *x, *weight, *bias;
  float *squares, *slice_sums;
  float *rectified, *row_mean, *row_inverse, *normalised, *chunk_means, *chunk_squares, *storage;
  float* y;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],
          d.shape.dims[1],
          d.shape.dims[0] * d.shape.dims[1],
          d.floats("x"),
          d.floats("weight"),
          d.floats("bias"),
          d.floats("squares"),
          d.floats("slice_sums"),
          d.floats("rectified"),
          d.floats("row_mean"),
          d.floats("row_inverse"),
          d.floats("normalised"),
          d.floats("chunk_means"),
          d.floats("chunk_squares"),
          d.floats("storage"),
          d.floats("y")};
}

/// x and y in 16 bits.
template <class T>
struct Halves {
  T *x, *y;
};

Halves<__half> float16_arrays(const Data& d) {
  const auto array = [&](const char* name) { return static_cast<__half*>(d.array(name, Type::kFloat16)); };
  return {array("x_float16"), array("y_float16")};
}
Halves<__nv_bfloat16> bfloat16_arrays(const Data& d) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(d.array(name, Type::kBFloat16));
  };
  return {array("x_bfloat16"), array("y_bfloat16")};
}

// --- Inputs and reference ---

/// Rows differ in size and in where their middle lies.
void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.x, a.n, -2.0f, 3.0f, 41);
  workbook::fill_uniform(a.weight, a.columns, 0.5f, 1.5f, 42);
  workbook::fill_uniform(a.bias, a.columns, -1.0f, 0.5f, 43);
  for (int r = 0; r < a.rows; ++r) {
    float of_row[2];
    workbook::fill_uniform(of_row, 2, 0.25f, 1.0f, 1000u + static_cast<unsigned>(r));
    float* row = a.x + static_cast<long long>(r) * a.columns;
    for (int c = 0; c < a.columns; ++c) row[c] = row[c] * of_row[0] + of_row[1];
  }
  const Halves<__half> half = float16_arrays(host);
  const Halves<__nv_bfloat16> bfloat16 = bfloat16_arrays(host);
  for (int i = 0; i < a.n; ++i) {
    half.x[i] = from_float<__half>(a.x[i]);
    bfloat16.x[i] = from_float<__nv_bfloat16>(a.x[i]);
  }
}

double squared(double x) { return x * x; }
double absolute(double x) { return fabs(x); }

/// out[r], or with `along_columns` out[c], = the sum of term(x) along the other dimension over `divisor`.
template <class Term>
void reference_sums(const Data& host, Term term, bool along_columns, double divisor, double* expected,
                    double* magnitude) {
  const Arrays a = arrays(host);
  const int count = along_columns ? a.columns : a.rows;
  for (int i = 0; i < count; ++i) expected[i] = 0;
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.columns; ++c)
      expected[along_columns ? c : r] += term(a.x[static_cast<long long>(r) * a.columns + c]);
  for (int i = 0; i < count; ++i) magnitude[i] = expected[i] /= divisor;
}

void reference_squares(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, squared, false, 1, expected, magnitude);
}
void reference_row_means(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, absolute, false, host.shape.dims[1], expected, magnitude);
}
void reference_means(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, absolute, true, host.shape.dims[0], expected, magnitude);
}
void reference_column_squares(const Data& host, double* expected, double* magnitude) {
  reference_sums(host, squared, true, 1, expected, magnitude);
}

double relu_of(double x) { return x < 0 ? 0 : x; }

/// y from `number(i)`, element i of x; without weight and bias unless `affine`. An error of the mean moves
/// all of a row, so an element's terms are the element and the mean's.
template <class Number>
void reference_rows(const Data& host, Number number, bool relu_last, bool affine, double* expected,
                    double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    const long long first = static_cast<long long>(r) * a.columns;
    const auto input = [&](int c) { return relu_last ? number(first + c) : relu_of(number(first + c)); };
    double sum = 0, size = 0, squares = 0;
    for (int c = 0; c < a.columns; ++c) {
      sum += input(c);
      size += fabs(input(c));
    }
    const double mean = sum / a.columns;
    for (int c = 0; c < a.columns; ++c) squares += (input(c) - mean) * (input(c) - mean);
    const double inverse = 1 / sqrt(squares / a.columns + double{kEpsilon});
    for (int c = 0; c < a.columns; ++c) {
      const double factor = inverse * (affine ? a.weight[c] : 1), shift = affine ? a.bias[c] : 0;
      const double result = (input(c) - mean) * factor + shift;
      expected[first + c] = relu_last ? relu_of(result) : result;
      magnitude[first + c] = (fabs(input(c)) + size / a.columns) * fabs(factor) + fabs(shift);
    }
  }
}

void reference_of_x(const Data& host, bool relu_last, bool affine, double* expected, double* magnitude) {
  const float* x = host.floats("x");
  const auto number = [x](long long i) { return double{x[i]}; };
  reference_rows(host, number, relu_last, affine, expected, magnitude);
}
void reference_y(const Data& host, double* expected, double* magnitude) {
  reference_of_x(host, false, true, expected, magnitude);
}
void reference_y_last(const Data& host, double* expected, double* magnitude) {
  reference_of_x(host, true, true, expected, magnitude);
}
void reference_y_plain(const Data& host, double* expected, double* magnitude) {
  reference_of_x(host, false, false, expected, magnitude);
}
void reference_float16(const Data& host, double* expected, double* magnitude) {
  const __half* x = float16_arrays(host).x;
  const auto number = [x](long long i) { return double{to_float(x[i])}; };
  reference_rows(host, number, false, true, expected, magnitude);
}
void reference_bfloat16(const Data& host, double* expected, double* magnitude) {
  const __nv_bfloat16* x = bfloat16_arrays(host).x;
  const auto number = [x](long long i) { return double{to_float(x[i])}; };
  reference_rows(host, number, false, true, expected, magnitude);
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
    {"storage", Type::kFloat32, Role::kScratch, storage_floats, nullptr},
    {"squares", Type::kFloat32, Role::kOutput, rows, reference_squares, "x "},
    {"row_means", Type::kFloat32, Role::kOutput, rows, reference_row_means, "x "},
    {"means", Type::kFloat32, Role::kOutput, columns, reference_means, "x "},
    {"column_squares", Type::kFloat32, Role::kOutput, columns, reference_column_squares, "x "},
    {"y", Type::kFloat32, Role::kOutput, elements, reference_y, "x weight bias "},
    {"y_last", Type::kFloat32, Role::kOutput, elements, reference_y_last, "x weight bias "},
    {"y_plain", Type::kFloat32, Role::kOutput, elements, reference_y_plain, "x "},
    {"x_float16", Type::kFloat16, Role::kInput, elements, nullptr},
    {"x_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"y_float16", Type::kFloat16, Role::kOutput, elements, reference_float16, "x_float16 weight bias "},
    {"y_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_bfloat16, "x_bfloat16 weight bias "},
};

// --- Stages that reduce ---

constexpr int kThreads = 256;

void run_atomic(const Data& data) {
  const Arrays a = arrays(data);
  launch(set_zero, ceil_div(a.rows, kThreads), kThreads, a.squares, a.rows);
  launch(squares_by_atomics, ceil_div(a.n, kThreads), kThreads, a.x, a.squares, a.n, a.columns);
}
void run_conflicts(const Data& data) {
  const Arrays a = arrays(data);
  launch(squares_with_conflicts, a.rows, kRowThreads, a.x, a.squares, a.columns);
}
void run_tree(const Data& data) {
  const Arrays a = arrays(data);
  launch(squares_by_tree, a.rows, kRowThreads, a.x, a.squares, a.columns);
}
void run_shuffles(const Data& data) {
  const Arrays a = arrays(data);
  launch(squares_by_shuffles, a.rows, kRowThreads, a.x, a.squares, a.columns);
}

/// Threads in whole warps, at most `most`, for a row of `vectors` at `each` a thread.
int row_threads(int vectors, int each, int most) {
  const int threads = ceil_div(ceil_div(vectors, each), 32) * 32;
  return threads < most ? threads : most;
}

bool starts_vector(const float* array) { return reinterpret_cast<size_t>(array) % 16 == 0; }

template <class Term>
void launch_rows(const Arrays& a, float* out, float divisor) {
  if (a.columns % 4 == 0 && starts_vector(a.x))
    launch(reduce_rows<Term, float4>, a.rows, row_threads(a.columns / 4, 4, 512), a.x, out, a.columns,
           divisor);
  else
    launch(reduce_rows<Term, float>, a.rows, row_threads(a.columns, 4, 512), a.x, out, a.columns, divisor);
}
void run_vectorised(const Data& data) { launch_rows<Square>(arrays(data), data.floats("squares"), 1.0f); }
void run_row_means(const Data& data) {
  launch_rows<Magnitude>(arrays(data), data.floats("row_means"), static_cast<float>(data.shape.dims[1]));
}

template <class Term, class Vector>
void launch_columns(const Data& data, float* out, float divisor) {
  const Arrays a = arrays(data);
  const dim3 block(kTileVectors, kTileRows);
  const unsigned tiles = static_cast<unsigned>(
      ceil_div(a.columns, kTileVectors * static_cast<int>(sizeof(Vector) / sizeof(float))));
  const int count = slices(data.shape);
  launch(reduce_columns<Term, Vector>, dim3(tiles, static_cast<unsigned>(count)), block, a.x, a.slice_sums,
         a.rows, a.columns, 1.0f);
  launch(reduce_columns<Itself, Vector>, tiles, block, a.slice_sums, out, count, a.columns, divisor);
}
template <class Term>
void reduce_along_columns(const Data& data, float* out, float divisor) {
  const Arrays a = arrays(data);
  const bool four = a.columns % 4 == 0 && starts_vector(a.x) && starts_vector(out);
  four ? launch_columns<Term, float4>(data, out, divisor) : launch_columns<Term, float>(data, out, divisor);
}
void run_columns(const Data& data) {
  reduce_along_columns<Magnitude>(data, data.floats("means"), static_cast<float>(data.shape.dims[0]));
}
void run_column_squares(const Data& data) {
  reduce_along_columns<Square>(data, data.floats("column_squares"), 1.0f);
}

#ifdef HAS_CUB
void run_cub(const Data& data) {
  const Arrays a = arrays(data);
  cub_segmented_reduce(a.x, a.squares, a.storage, sizeof(float) * storage_floats(data.shape), a.rows,
                       a.columns);
}
#else
constexpr void (*run_cub)(const Data&) = nullptr;
#endif

// --- Stages that normalise ---

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  launch(rectify, ceil_div(a.n, kThreads), kThreads, a.x, a.rectified, a.n);
  launch(row_means, a.rows, kRowThreads, a.rectified, a.row_mean, a.columns);
  launch(row_inverses, a.rows, kRowThreads, a.rectified, a.row_mean, a.row_inverse, a.columns, kEpsilon);
  launch(normalise, a.rows, kRowThreads, a.rectified, a.row_mean, a.row_inverse, a.normalised, a.columns);
  launch(scale_and_shift, a.rows, kRowThreads, a.normalised, a.weight, a.bias, a.y, a.columns);
}
void run_three_passes(const Data& data) {
  const Arrays a = arrays(data);
  launch(three_passes, a.rows, kRowThreads, a.x, a.weight, a.bias, a.y, a.columns, kEpsilon);
}
void run_two_passes(const Data& data) {
  const Arrays a = arrays(data);
  launch(two_passes, a.rows, kRowThreads, a.x, a.weight, a.bias, a.y, a.columns, kEpsilon);
}

bool vectors_of_four(const Arrays& a, const float* y) {
  return a.columns % 4 == 0 && starts_vector(a.x) && starts_vector(a.weight) && starts_vector(a.bias) &&
         starts_vector(y);
}

bool fits_registers(const Shape& s) { return s.dims[1] <= 1024 * kHeldBytes / 4; }

template <class Vector, bool Affine, bool ReluLast>
void launch_one_read(const Arrays& a, float* y) {
  const int vectors = a.columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  launch(one_read<Vector, Affine, ReluLast>, a.rows, row_threads(vectors, kHeld<Vector>, 1024), a.x, a.weight,
         a.bias, y, a.columns, kEpsilon);
}
template <bool Affine, bool ReluLast>
void read_once(const Arrays& a, float* y) {
  vectors_of_four(a, y) ? launch_one_read<float4, Affine, ReluLast>(a, y)
                        : launch_one_read<float, Affine, ReluLast>(a, y);
}
void run_one_read(const Data& data) { read_once<true, false>(arrays(data), data.floats("y")); }
void run_plain(const Data& data) { read_once<false, false>(arrays(data), data.floats("y_plain")); }
void run_relu_last(const Data& data) { read_once<true, true>(arrays(data), data.floats("y_last")); }

/// Bytes of dynamic shared memory of a block that has `columns` of a long row.
int waiting_bytes(int columns) {
  const int bytes = 4 * columns - kLongRowThreads * kHeldBytes;
  return bytes > 0 ? bytes : 0;
}

/// Whether a block can keep so much of a row: with shared memory for what waits, and for what the warps find.
bool stays(int columns) { return waiting_bytes(columns) + 256 <= most_shared_bytes(); }

bool long_rows_stay(const Shape& s) { return !fits_registers(s) && stays(s.dims[1]); }

template <class Vector>
void launch_long_rows(const Arrays& a) {
  launch_shared(long_rows<Vector>, a.rows, kLongRowThreads, static_cast<size_t>(waiting_bytes(a.columns)),
                a.x, a.weight, a.bias, a.y, a.columns, kEpsilon);
}
void run_long_rows(const Data& data) {
  const Arrays a = arrays(data);
  vectors_of_four(a, a.y) ? launch_long_rows<float4>(a) : launch_long_rows<float>(a);
}

constexpr int kWarpRowThreads = 128;

bool short_rows(const Shape& s) { return s.dims[1] <= 32 * kHeldBytes / 4; }

/// Lanes that hold a short row: 8 at least, which ask for whole sectors.
int row_lanes(const Shape& s) {
  int lanes = 8;
  while (lanes < 32 && lanes * kHeldBytes / 4 < s.dims[1]) lanes *= 2;
  return lanes;
}

void run_warp_a_row(const Data& data) {
  const Arrays a = arrays(data);
  const int lanes = row_lanes(data.shape);
  launch(vectors_of_four(a, a.y) ? warp_a_row<float4> : warp_a_row<float>,
         ceil_div(a.rows, kWarpRowThreads / lanes), kWarpRowThreads, a.x, a.weight, a.bias, a.y, a.rows,
         a.columns, lanes, kEpsilon);
}

template <class Vector>
void launch_split_rows(const Data& data) {
  const Arrays a = arrays(data);
  const int each = chunks(data.shape), all = a.rows * each;
  launch(chunk_moments<Vector>, all, kChunkThreads, a.x, a.chunk_means, a.chunk_squares, each, a.columns);
  launch(normalise_chunks<Vector>, all, kChunkThreads, a.x, a.chunk_means, a.chunk_squares, a.weight, a.bias,
         a.y, each, a.columns, kEpsilon);
}
void run_split_rows(const Data& data) {
  const Arrays a = arrays(data);
  vectors_of_four(a, a.y) ? launch_split_rows<float4>(data) : launch_split_rows<float>(data);
}

#ifdef __CUDACC__
/// Blocks of a row's cluster: two, or what it takes to keep the row.
int cluster_blocks(int columns) {
  int count = 2;
  while (count < 16 && !stays(ceil_div(columns, 4 * count) * 4)) count *= 2;
  return count;
}
bool clusters_stay(const Shape& s) {
  return !fits_registers(s) && stays(ceil_div(s.dims[1], 4 * cluster_blocks(s.dims[1])) * 4);
}

void run_clusters(const Data& data) {
  const Arrays a = arrays(data);
  const int count = cluster_blocks(a.columns), slice = ceil_div(a.columns, 4 * count) * 4;
  (vectors_of_four(a, a.y) ? launch_cluster_rows<float4>
                           : launch_cluster_rows<float>)(a.x, a.weight, a.bias, a.y, a.rows, a.columns, count,
                                                         slice, waiting_bytes(slice), kEpsilon);
}
#else
constexpr bool (*clusters_stay)(const Shape&) = nullptr;
constexpr void (*run_clusters)(const Data&) = nullptr;
#endif

/// On a multiprocessor; a row of 1024 columns has 128 threads.
constexpr int kBlocksThatStay = 8;

bool rows_fit_a_block(const Shape& s) { return s.dims[1] <= 1024 * 8; }

int blocks_that_stay(const Shape& s) {
  const int most = kBlocksThatStay * multiprocessors();
  return s.dims[0] < most ? s.dims[0] : most;
}

template <class Vector>
void launch_persistent(const Data& data) {
  const Arrays a = arrays(data);
  const int vectors = a.columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int threads = row_threads(vectors, kShare<Vector>, 1024);
  launch_shared(persistent_rows<Vector>, blocks_that_stay(data.shape), threads,
                static_cast<size_t>(64 * threads), a.x, a.weight, a.bias, a.y, a.rows, a.columns, kEpsilon);
}
void run_persistent(const Data& data) {
  const Arrays a = arrays(data);
  vectors_of_four(a, a.y) ? launch_persistent<float4>(data) : launch_persistent<float>(data);
}

template <class T>
void launch_half(const Arrays& a, const Halves<T>& half) {
  const auto starts = [](const T* array) { return reinterpret_cast<size_t>(array) % 8 == 0; };
  const bool four = a.columns % 4 == 0 && starts(half.x) && starts(half.y) && starts_vector(a.weight) &&
                    starts_vector(a.bias);
  launch(four ? half_rows<T, uint2> : half_rows<T, T>, a.rows, row_threads(a.columns, 16, 1024), half.x,
         a.weight, a.bias, half.y, a.columns, kEpsilon);
}
void run_float16(const Data& data) { launch_half(arrays(data), float16_arrays(data)); }
void run_bfloat16(const Data& data) { launch_half(arrays(data), bfloat16_arrays(data)); }

// --- The bytes that each stage should move, for arrays that start on a sector boundary ---

/// A row's bytes, wherever it begins, read or written once by warps of `width` elements a lane.
long long once(const Shape& s, int width = 1) { return row_sector_bytes(s, 4, width); }

/// A value for each row, asked for or written by as many warps of the row.
long long row_values(const Shape& s, int warps = 1) { return 32 * warps * rows(s); }

/// Weight and bias.
long long parameters(const Shape& s) { return 2 * sector_bytes(columns(s)); }

/// Of a stage that asks for weight and bias `times` times: all but the first find them in a cache.
Traffic with_parameters(const Shape& s, long long read, long long write, long long times) {
  return {read + times * parameters(s), write, (times - 1) * parameters(s)};
}

constexpr int kRowWarps = kRowThreads / 32;

Traffic atomic_traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(rows(s))}; }
Traffic row_traffic(const Shape& s) { return {once(s), row_values(s)}; }
Traffic vectorised_traffic(const Shape& s) { return {once(s, width(s)), row_values(s)}; }
Traffic columns_traffic(const Shape& s) {
  const Shape partial = {{slices(s), s.dims[1], 1}}, means = {{1, s.dims[1], 1}};
  return {once(s, width(s)) + once(partial, width(s)), once(partial, width(s)) + once(means, width(s))};
}

Traffic unfused_traffic(const Shape& s) {
  const long long flat = sector_bytes(elements(s));
  return with_parameters(s, flat + 4 * once(s) + row_values(s, 3 * kRowWarps),
                         flat + 2 * row_values(s) + 2 * once(s), rows(s));
}
Traffic three_passes_traffic(const Shape& s) { return with_parameters(s, 3 * once(s), once(s), rows(s)); }
Traffic two_passes_traffic(const Shape& s) { return with_parameters(s, 2 * once(s), once(s), rows(s)); }
Traffic one_read_traffic(const Shape& s) {
  return with_parameters(s, once(s, width(s)), once(s, width(s)), rows(s));
}

Traffic plain_traffic(const Shape& s) { return {once(s, width(s)), once(s, width(s))}; }

/// x or y of short rows: a warp has several, and those that meet in a sector share it. Of each, its lanes
/// have as many vectors side by side.
long long short_rows_once(const Shape& s) {
  const int lanes = row_lanes(s), rows_of_warp = 32 / lanes, step = lanes * width(s);
  const long long all = rows(s), row = columns(s);
  long long sectors = 0;
  for (long long first = 0; first < all; first += rows_of_warp)
    for (long long c = 0; c < row; c += step) {
      long long last = -1;
      for (long long r = first; r < first + rows_of_warp && r < all; ++r) {
        const long long end = c + step < row ? c + step : row;
        const long long from = (r * row + c) / 8, to = (r * row + end - 1) / 8;
        sectors += to - (from > last ? from : last + 1) + 1;
        last = to;
      }
    }
  return 32 * sectors;
}
Traffic warp_a_row_traffic(const Shape& s) {
  const long long warps = ceil_div(s.dims[0], 32 / row_lanes(s));
  return with_parameters(s, short_rows_once(s), short_rows_once(s), warps);
}

Traffic persistent_traffic(const Shape& s) {
  return with_parameters(s, once(s, width(s)), once(s, width(s)), blocks_that_stay(s));
}

Traffic half_traffic(const Shape& s) {
  const long long rows_once = row_sector_bytes(s, 2, width(s));
  return with_parameters(s, rows_once, rows_once, rows(s));
}

/// Every warp of a chunk asks for the moments of its row's chunks.
Traffic split_rows_traffic(const Shape& s) {
  const int warps = kChunkThreads / 32, each = chunks(s);
  const Shape row_of_moments = {{s.dims[0], each, 1}};
  const long long moments = 2 * once(row_of_moments);
  Traffic traffic =
      with_parameters(s, 2 * once(s, width(s)), 2 * 32 * all_chunks(s) + once(s, width(s)), rows(s));
  traffic.read_bytes += moments * warps * each;
  traffic.repeated_bytes += moments * (warps * each - 1);
  return traffic;
}

// --- How far results may be off ---

/// A thread of 32 or more adds up its share of a row one by one, a tree the rest. Atomics come in any order.
int sum_roundings(const Shape& s) { return ceil_div(s.dims[1], 32) + 12; }
int atomic_roundings(const Shape& s) { return s.dims[1]; }
int column_roundings(const Shape& s) { return ceil_div(s.dims[0], kTileRows * slices(s)) + slices(s) + 12; }

/// The mean's error and half of the variance's, the reciprocal root's 2 ulps, and what follows.
int row_roundings(const Shape& s) { return 2 * sum_roundings(s) + 12; }

bool few_elements(const Shape& s) { return elements(s) <= 1 << 24; }

bool has_rows(const Shape& s) { return s.dims[1] <= 1 << 20; }
constexpr const char* kRegisters = "rows of at most 16384 columns";
constexpr const char* kRows = "rows of at most 1048576 columns";

const Stage kStages[] = {
    {.name = "1_atomic",
     .idea = "sums of squares: an atomic addition for each element",
     .output = "squares",
     .kernels = 2,
     .run = run_atomic,
     .traffic = atomic_traffic,
     .roundings = atomic_roundings,
     .needs = "at most 16777216 elements: their additions wait for each other",
     .suits = few_elements},
    {.name = "2_conflicts",
     .idea = "a tree in shared memory, lanes in the same bank",
     .output = "squares",
     .kernels = 1,
     .run = run_conflicts,
     .traffic = row_traffic,
     .roundings = sum_roundings,
     .needs = kRows,
     .suits = has_rows},
    {.name = "3_tree",
     .idea = "the tree the other way round: no conflicts",
     .output = "squares",
     .kernels = 1,
     .run = run_tree,
     .traffic = row_traffic,
     .roundings = sum_roundings,
     .needs = kRows,
     .suits = has_rows},
    {.name = "4_shuffles",
     .idea = "warps add up without shared memory",
     .output = "squares",
     .kernels = 1,
     .run = run_shuffles,
     .traffic = row_traffic,
     .roundings = sum_roundings,
     .needs = kRows,
     .suits = has_rows},
    {.name = "5_vectorised",
     .idea = "16 bytes a load, four loads on their way",
     .output = "squares",
     .kernels = 1,
     .run = run_vectorised,
     .traffic = vectorised_traffic,
     .roundings = sum_roundings,
     .needs = kRows,
     .suits = has_rows},
    {.name = "5_means",
     .idea = "the same kernel, absolute values: the mean of each row",
     .output = "row_means",
     .kernels = 1,
     .run = run_row_means,
     .traffic = vectorised_traffic,
     .roundings = sum_roundings,
     .needs = kRows,
     .suits = has_rows},
    {.name = "6_columns",
     .idea = "along the columns: lanes side by side, no lane adds for another",
     .output = "means",
     .kernels = 2,
     .run = run_columns,
     .traffic = columns_traffic,
     .roundings = column_roundings,
     .against = "6_columns"},
    {.name = "6_squares",
     .idea = "the same kernel, squares: the sum of each column",
     .output = "column_squares",
     .kernels = 2,
     .run = run_column_squares,
     .traffic = columns_traffic,
     .roundings = column_roundings,
     .against = "6_columns"},
    {.name = "7_unfused",
     .idea = "ReLU and LayerNorm in five kernels",
     .output = "y",
     .kernels = 5,
     .run = run_unfused,
     .traffic = unfused_traffic,
     .roundings = row_roundings,
     .needs = kRows,
     .suits = has_rows,
     .against = "7_unfused"},
    {.name = "8_three_passes",
     .idea = "one kernel, three passes over the row",
     .output = "y",
     .kernels = 1,
     .run = run_three_passes,
     .traffic = three_passes_traffic,
     .roundings = row_roundings,
     .needs = kRows,
     .suits = has_rows,
     .against = "7_unfused"},
    {.name = "9_two_passes",
     .idea = "mean and variance in one pass, by Welford and Chan",
     .output = "y",
     .kernels = 1,
     .run = run_two_passes,
     .traffic = two_passes_traffic,
     .roundings = row_roundings,
     .needs = kRows,
     .suits = has_rows,
     .against = "7_unfused"},
    {.name = "10_one_read",
     .idea = "the row stays in registers; all loads go out at once",
     .output = "y",
     .kernels = 1,
     .run = run_one_read,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = kRegisters,
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "10_plain",
     .idea = "the same kernel without weight and bias",
     .output = "y_plain",
     .kernels = 1,
     .run = run_plain,
     .traffic = plain_traffic,
     .roundings = row_roundings,
     .needs = kRegisters,
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "10_relu_last",
     .idea = "the sibling: relu(layernorm(x)), in the same kernel",
     .output = "y_last",
     .kernels = 1,
     .run = run_relu_last,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = kRegisters,
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "10_long_rows",
     .idea = "the row stays in registers and shared memory",
     .output = "y",
     .kernels = 1,
     .run = run_long_rows,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = "longer rows that a block can keep",
     .suits = long_rows_stay,
     .against = "7_unfused"},
    {.name = "11_warp_a_row",
     .idea = "short rows: a warp or a part of one each",
     .output = "y",
     .kernels = 1,
     .run = run_warp_a_row,
     .traffic = warp_a_row_traffic,
     .roundings = row_roundings,
     .needs = "rows of at most 512 columns",
     .suits = short_rows,
     .against = "7_unfused"},
    {.name = "12_split_rows",
     .idea = "long rows: several blocks each, two kernels",
     .output = "y",
     .kernels = 2,
     .run = run_split_rows,
     .traffic = split_rows_traffic,
     .roundings = row_roundings,
     .against = "7_unfused"},
    {.name = "12_clusters",
     .idea = "long rows: a cluster of blocks each, one kernel and one read",
     .output = "y",
     .kernels = 1,
     .run = run_clusters,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = "a GPU of compute capability 9.0, and long rows",
     .suits = clusters_stay,
     .against = "7_unfused",
     .capability = 90},
    {.name = "13_persistent",
     .idea = "blocks that stay: weight and bias kept, the next row on its way",
     .output = "y",
     .kernels = 1,
     .run = run_persistent,
     .traffic = persistent_traffic,
     .roundings = row_roundings,
     .needs = "rows of at most 8192 columns",
     .suits = rows_fit_a_block,
     .against = "7_unfused"},
    {.name = "14_float16",
     .idea = "half the bytes: float16 in and out, float32 between",
     .output = "y_float16",
     .kernels = 1,
     .run = run_float16,
     .traffic = half_traffic,
     .roundings = row_roundings,
     .needs = kRegisters,
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "14_bfloat16",
     .idea = "half the bytes: bfloat16 in and out, float32 between",
     .output = "y_bfloat16",
     .kernels = 1,
     .run = run_bfloat16,
     .traffic = half_traffic,
     .roundings = row_roundings,
     .needs = kRegisters,
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "15_cub",
     .idea = "library: cub::DeviceSegmentedReduce, sums of squares",
     .output = "squares",
     .kernels = workbook::kAnyNumber,
     .run = run_cub,
     .traffic = vectorised_traffic,
     .roundings = sum_roundings,
     .needs = "a GPU and cub::DeviceSegmentedReduce"},
};

const Shape kSweep[] = {{262144, 128, 1}, {4096, 1024, 1},  {2048, 2048, 1},   {65536, 1024, 1},
                        {32768, 4096, 1}, {4096, 32768, 1}, {1024, 131072, 1}, {64, 1 << 20, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "04_relu_layernorm",
          .formula = "y = layernorm(relu(x))",
          .dims = "RxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {2048, 512, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill};
}

}  // namespace DEVICE::relu_layernorm
