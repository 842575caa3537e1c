/// \file
/// Chapter 04: reductions, then y = layernorm(relu(x)). Stages, inputs and reference; compiled once for each
/// device.
#include <math.h>

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
#if defined(__CUDACC__) && __has_include(<cub/device/device_segmented_reduce.cuh>)
#define HAS_CUB
#include "15_cub.gpu.cuh"
#endif

namespace DEVICE::relu_layernorm {
namespace {

using workbook::Array;
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

/// Blocks of `size` that cover n >= 1 elements: n / size, rounded up.
int blocks(int n, int size) { return (n - 1) / size + 1; }

long long rows(const Shape& shape) { return shape.dims[0]; }
long long columns(const Shape& shape) { return shape.dims[1]; }
long long elements(const Shape& shape) { return rows(shape) * columns(shape); }

/// Slices of the rows in stage 6: enough blocks for a large GPU, and rows enough for a slice.
int slices(const Shape& shape) {
  const int wanted = blocks(4096, blocks(shape.dims[1], kTileColumns));
  const int most = blocks(shape.dims[0], 4 * kTileRows);
  return wanted < most ? wanted : most;
}
long long slice_sums(const Shape& shape) { return slices(shape) * columns(shape); }

int chunks(const Shape& shape) { return blocks(shape.dims[1], kChunk); }
long long all_chunks(const Shape& shape) { return rows(shape) * chunks(shape); }

/// Of CUB's working memory; it wants a byte.
long long storage_floats(const Shape&) { return 256; }

struct Arrays {
  int rows, columns, n;
  float *x, *weight, *bias;
  float *squares, *slice_sums, *means;
  float *rectified, *row_mean, *row_inverse, *normalised, *chunk_means, *chunk_squares, *storage;
  float *y, *y_last;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],        d.shape.dims[1],         d.shape.dims[0] * d.shape.dims[1],
          d.floats("x"),          d.floats("weight"),      d.floats("bias"),
          d.floats("squares"),    d.floats("slice_sums"),  d.floats("means"),
          d.floats("rectified"),  d.floats("row_mean"),    d.floats("row_inverse"),
          d.floats("normalised"), d.floats("chunk_means"), d.floats("chunk_squares"),
          d.floats("storage"),    d.floats("y"),           d.floats("y_last")};
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

void reference_squares(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    double sum = 0;
    for (int c = 0; c < a.columns; ++c) {
      const double x = a.x[static_cast<long long>(r) * a.columns + c];
      sum += x * x;
    }
    magnitude[r] = expected[r] = sum;
  }
}

void reference_means(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int c = 0; c < a.columns; ++c) expected[c] = 0;
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.columns; ++c)
      expected[c] += fabs(static_cast<double>(a.x[static_cast<long long>(r) * a.columns + c]));
  for (int c = 0; c < a.columns; ++c) magnitude[c] = expected[c] /= a.rows;
}

double relu_of(double x) { return x < 0 ? 0 : x; }

/// y from `number(i)`, element i of x. An error of the mean moves all of a row, so an element's terms are the
/// element and the mean's.
template <class Number>
void reference_rows(const Data& host, Number number, bool relu_last, double* expected, double* magnitude) {
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
      const double factor = inverse * a.weight[c];
      const double result = (input(c) - mean) * factor + a.bias[c];
      expected[first + c] = relu_last ? relu_of(result) : result;
      magnitude[first + c] = (fabs(input(c)) + size / a.columns) * fabs(factor) + fabs(double{a.bias[c]});
    }
  }
}

void reference_y(const Data& host, double* expected, double* magnitude) {
  const float* x = host.floats("x");
  reference_rows(
      host, [x](long long i) { return double{x[i]}; }, false, expected, magnitude);
}
void reference_y_last(const Data& host, double* expected, double* magnitude) {
  const float* x = host.floats("x");
  reference_rows(
      host, [x](long long i) { return double{x[i]}; }, true, expected, magnitude);
}
void reference_float16(const Data& host, double* expected, double* magnitude) {
  const __half* x = float16_arrays(host).x;
  reference_rows(
      host, [x](long long i) { return double{to_float(x[i])}; }, false, expected, magnitude);
}
void reference_bfloat16(const Data& host, double* expected, double* magnitude) {
  const __nv_bfloat16* x = bfloat16_arrays(host).x;
  reference_rows(
      host, [x](long long i) { return double{to_float(x[i])}; }, false, expected, magnitude);
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
    {"means", Type::kFloat32, Role::kOutput, columns, reference_means, "x "},
    {"y", Type::kFloat32, Role::kOutput, elements, reference_y, "x weight bias "},
    {"y_last", Type::kFloat32, Role::kOutput, elements, reference_y_last, "x weight bias "},
    {"x_float16", Type::kFloat16, Role::kInput, elements, nullptr},
    {"x_bfloat16", Type::kBFloat16, Role::kInput, elements, nullptr},
    {"y_float16", Type::kFloat16, Role::kOutput, elements, reference_float16, "x_float16 weight bias "},
    {"y_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_bfloat16, "x_bfloat16 weight bias "},
};

// --- Stages that reduce ---

constexpr int kThreads = 256;

void run_atomic(const Data& data) {
  const Arrays a = arrays(data);
  launch(set_zero, blocks(a.rows, kThreads), kThreads, a.squares, a.rows);
  launch(squares_by_atomics, blocks(a.n, kThreads), kThreads, a.x, a.squares, a.n, a.columns);
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
  const int threads = blocks(blocks(vectors, each), 32) * 32;
  return threads < most ? threads : most;
}

bool starts_vector(const float* array) { return reinterpret_cast<size_t>(array) % 16 == 0; }

void run_vectorised(const Data& data) {
  const Arrays a = arrays(data);
  if (a.columns % 4 == 0 && starts_vector(a.x))
    launch(squares_by_vectors<float4>, a.rows, row_threads(a.columns / 4, 4, 512), a.x, a.squares, a.columns);
  else
    launch(squares_by_vectors<float>, a.rows, row_threads(a.columns, 4, 512), a.x, a.squares, a.columns);
}

void run_columns(const Data& data) {
  const Arrays a = arrays(data);
  const int count = slices(data.shape);
  launch(sum_column_slices, dim3(blocks(a.columns, kTileColumns), count), dim3(kTileColumns, kTileRows), a.x,
         a.slice_sums, a.rows, a.columns);
  launch(column_means, blocks(a.columns, kThreads), kThreads, a.slice_sums, a.means, count, a.rows,
         a.columns);
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
  launch(rectify, blocks(a.n, kThreads), kThreads, a.x, a.rectified, a.n);
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

/// Threads of a row that does not fit the registers of 1024: few enough that two blocks share a
/// multiprocessor of an H200, so that one reads while the other computes.
constexpr int kLongRowThreads = 512;
constexpr int kHeldBytes = 64;  // of a thread

/// Bytes of a row of `columns` that wait in shared memory.
int waiting_bytes(int columns) {
  const bool held = columns <= 1024 * kHeldBytes / 4;
  return held ? 0 : 4 * columns - kLongRowThreads * kHeldBytes;
}

/// Whether a block can keep such a row: with shared memory for what waits, and for what the warps find.
bool stays(const Shape& s) { return waiting_bytes(s.dims[1]) + 128 <= most_shared_bytes(); }

template <class Vector, bool ReluLast>
void launch_one_read(const Arrays& a, float* y) {
  const int vectors = a.columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int waiting = waiting_bytes(a.columns);
  const int threads = waiting > 0 ? kLongRowThreads : row_threads(vectors, kHeld<Vector>, 1024);
  launch_shared(one_read<Vector, ReluLast>, a.rows, threads, static_cast<size_t>(waiting), a.x, a.weight,
                a.bias, y, a.columns, kEpsilon);
}
void run_one_read(const Data& data) {
  const Arrays a = arrays(data);
  vectors_of_four(a, a.y) ? launch_one_read<float4, false>(a, a.y) : launch_one_read<float, false>(a, a.y);
}
void run_relu_last(const Data& data) {
  const Arrays a = arrays(data);
  vectors_of_four(a, a.y_last) ? launch_one_read<float4, true>(a, a.y_last)
                               : launch_one_read<float, true>(a, a.y_last);
}

constexpr int kWarpRowThreads = 128;

bool short_rows(const Shape& s) { return s.dims[1] <= 32 * kHeldBytes / 4; }

void run_warp_a_row(const Data& data) {
  const Arrays a = arrays(data);
  launch(vectors_of_four(a, a.y) ? warp_a_row<float4> : warp_a_row<float>,
         blocks(a.rows, kWarpRowThreads / 32), kWarpRowThreads, a.x, a.weight, a.bias, a.y, a.rows, a.columns,
         kEpsilon);
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

bool fits_registers(const Shape& s) { return s.dims[1] <= 16 * 1024; }

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

/// Weight and bias, asked for once a row.
long long parameters(const Shape& s) { return 2 * rows(s) * sector_bytes(columns(s)); }

constexpr int kRowWarps = kRowThreads / 32;

int width(const Shape& s) { return s.dims[1] % 4 == 0 ? 4 : 1; }

Traffic atomic_traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(rows(s))}; }
Traffic row_traffic(const Shape& s) { return {once(s), row_values(s)}; }
Traffic vectorised_traffic(const Shape& s) { return {once(s, width(s)), row_values(s)}; }
Traffic columns_traffic(const Shape& s) {
  const Shape partial = {{slices(s), s.dims[1], 1}}, means = {{1, s.dims[1], 1}};
  return {once(s) + once(partial), once(partial) + once(means)};
}

Traffic unfused_traffic(const Shape& s) {
  const long long flat = sector_bytes(elements(s));
  return {flat + 4 * once(s) + row_values(s, 3 * kRowWarps) + parameters(s),
          flat + 2 * row_values(s) + 2 * once(s)};
}
Traffic three_passes_traffic(const Shape& s) { return {3 * once(s) + parameters(s), once(s)}; }
Traffic two_passes_traffic(const Shape& s) { return {2 * once(s) + parameters(s), once(s)}; }
Traffic one_read_traffic(const Shape& s) { return {once(s, width(s)) + parameters(s), once(s, width(s))}; }

Traffic persistent_traffic(const Shape& s) {
  return {once(s, width(s)) + 2 * blocks_that_stay(s) * sector_bytes(columns(s)), once(s, width(s))};
}

Traffic half_traffic(const Shape& s) {
  const long long rows_once = row_sector_bytes(s, 2, width(s));
  return {rows_once + parameters(s), rows_once};
}

/// Every warp of a chunk asks for the moments of its row's chunks.
Traffic split_rows_traffic(const Shape& s) {
  const int warps = kChunkThreads / 32, each = chunks(s);
  const Shape moments = {{s.dims[0], each, 1}};
  return {2 * once(s, width(s)) + 2 * once(moments) * warps * each + parameters(s),
          2 * 32 * all_chunks(s) + once(s, width(s))};
}

// --- How far results may be off ---

/// A thread of 32 or more adds up its share of a row one by one, a tree the rest. Atomics come in any order.
int sum_roundings(const Shape& s) { return blocks(s.dims[1], 32) + 12; }
int atomic_roundings(const Shape& s) { return s.dims[1]; }
int column_roundings(const Shape& s) { return blocks(s.dims[0], kTileRows * slices(s)) + slices(s) + 6; }

/// The mean's error and half of the variance's, the reciprocal root's 2 ulps, and what follows.
int row_roundings(const Shape& s) { return 2 * sum_roundings(s) + 12; }

bool few_elements(const Shape& s) { return elements(s) <= 1 << 24; }

bool has_rows(const Shape& s) { return s.dims[1] <= 1 << 20; }
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
    {.name = "6_columns",
     .idea = "along the columns: lanes side by side, no lane adds for another",
     .output = "means",
     .kernels = 2,
     .run = run_columns,
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
     .idea = "the row stays in registers and shared memory",
     .output = "y",
     .kernels = 1,
     .run = run_one_read,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = "rows that a block can keep",
     .suits = stays,
     .against = "7_unfused"},
    {.name = "10_relu_last",
     .idea = "the sibling: relu(layernorm(x)), in the same kernel",
     .output = "y_last",
     .kernels = 1,
     .run = run_relu_last,
     .traffic = one_read_traffic,
     .roundings = row_roundings,
     .needs = "rows that a block can keep",
     .suits = stays,
     .against = "7_unfused"},
    {.name = "11_warp_a_row",
     .idea = "short rows: a warp each",
     .output = "y",
     .kernels = 1,
     .run = run_warp_a_row,
     .traffic = one_read_traffic,
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
     .needs = "rows of at most 16384 columns",
     .suits = fits_registers,
     .against = "7_unfused"},
    {.name = "14_bfloat16",
     .idea = "half the bytes: bfloat16 in and out, float32 between",
     .output = "y_bfloat16",
     .kernels = 1,
     .run = run_bfloat16,
     .traffic = half_traffic,
     .roundings = row_roundings,
     .needs = "rows of at most 16384 columns",
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

const Shape kSweep[] = {{262144, 128, 1}, {4096, 1024, 1},  {2048, 2048, 1}, {65536, 1024, 1},
                        {32768, 4096, 1}, {4096, 32768, 1}, {64, 1 << 20, 1}};

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
