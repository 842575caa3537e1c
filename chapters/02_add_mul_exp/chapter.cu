/// \file
/// Chapter 02: out = exp((x + y) * 2), from three kernels to one, in fewer bytes and in fewer launches.
/// Stages, inputs and reference; compiled once for each device.
#include <math.h>

#include "1_unfused.cuh"
#include "2_fused.cuh"
#include "3_fast_exp.cuh"
#include "4_float4.cuh"
#include "5_chain.cuh"
#include "6_in_flight.cuh"
#include "7_half.cuh"
#include "9_sum.cuh"
#include "chapter.hpp"
#ifdef __CUDACC__
#include "8_dependent.gpu.cuh"
#endif
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#define HAS_CUB
#include "10_cub.gpu.cuh"
#endif

namespace DEVICE::add_mul_exp {
namespace {

using workbook::Array;
using workbook::ceil_div;
using workbook::Chapter;
using workbook::Data;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::Traffic;
using workbook::Type;

// --- Arrays ---

long long elements(const Shape& shape) { return shape.dims[0]; }
long long one(const Shape&) { return 1; }
long long most_sum_blocks(const Shape&) { return kMostSumBlocks; }

struct Arrays {
  int n;
  float *x, *y, *added, *doubled, *out, *partial, *sum;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],     d.floats("x"),   d.floats("y"),       d.floats("added"),
          d.floats("doubled"), d.floats("out"), d.floats("partial"), d.floats("sum")};
}

/// The arrays of stage 7, in T.
template <class T>
struct Halves {
  T *x, *y, *out;
};

Halves<__half> float16_arrays(const Data& d) {
  const auto array = [&](const char* name) { return static_cast<__half*>(d.array(name, Type::kFloat16)); };
  return {array("x_float16"), array("y_float16"), array("out_float16")};
}

Halves<__nv_bfloat16> bfloat16_arrays(const Data& d) {
  const auto array = [&](const char* name) {
    return static_cast<__nv_bfloat16*>(d.array(name, Type::kBFloat16));
  };
  return {array("x_bfloat16"), array("y_bfloat16"), array("out_bfloat16")};
}

// --- Inputs and reference ---

/// The same numbers in all three types: x + y is random, and exp of twice that is neither 0 nor infinite in
/// any.
void fill(const Data& host) {
  const int n = host.shape.dims[0];
  float *x = host.floats("x"), *y = host.floats("y");
  workbook::fill_uniform(x, n, -1.5f, 1.0f, 21);
  workbook::fill_uniform(y, n, -1.0f, 1.5f, 22);
  const Halves<__half> half = float16_arrays(host);
  const Halves<__nv_bfloat16> bfloat16 = bfloat16_arrays(host);
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

/// An error of the argument a comes out of exp(a) |a| times as large, relative to the result. Below 2^-126
/// the numbers of a float are as far apart as there; above its largest is infinity.
Term reference_term(double x, double y) {
  constexpr double kSmallestNormal = 0x1p-126, kTooLarge = 0x1.ffffffp127;
  const double argument = (x + y) * 2;
  const double value = exp(argument);
  return {value < kTooLarge || value != value ? value : INFINITY,
          value * (1 + fabs(argument)) + kSmallestNormal};
}

void reference_out(const Data& host, double* expected, double* magnitude) {
  const float *x = host.floats("x"), *y = host.floats("y");
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const Term term = reference_term(x[i], y[i]);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

template <class T>
void reference_halves(const Halves<T>& a, int n, double* expected, double* magnitude) {
  for (int i = 0; i < n; ++i) {
    const Term term = reference_term(to_float(a.x[i]), to_float(a.y[i]));
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

void reference_float16(const Data& host, double* expected, double* magnitude) {
  reference_halves(float16_arrays(host), host.shape.dims[0], expected, magnitude);
}

void reference_bfloat16(const Data& host, double* expected, double* magnitude) {
  reference_halves(bfloat16_arrays(host), host.shape.dims[0], expected, magnitude);
}

void reference_sum(const Data& host, double* expected, double* magnitude) {
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
    {"out_float16", Type::kFloat16, Role::kOutput, elements, reference_float16, "x_float16 y_float16"},
    {"out_bfloat16", Type::kBFloat16, Role::kOutput, elements, reference_bfloat16, "x_bfloat16 y_bfloat16"},
    {"sum", Type::kFloat32, Role::kOutput, one, reference_sum, "x y"},
};

// --- Stages ---

constexpr int kThreads = 256;

/// Threads of a block where each computes one vector. Large arrays: two blocks of 768 fill 1536 of a
/// multiprocessor's thread slots, the fastest on an H200 of 64 to 1024. Small ones: more blocks, so that
/// every multiprocessor has some.
int vector_threads(int n) { return n < 4'000'000 ? 256 : 768; }

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  launch(add, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.added, a.n);
  launch(twice, ceil_div(a.n, kThreads), kThreads, a.added, a.doubled, a.n);
  launch(exponential, ceil_div(a.n, kThreads), kThreads, a.doubled, a.out, a.n);
}

void run_fused(const Data& data) {
  const Arrays a = arrays(data);
  launch(fused, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.out, a.n);
}

void run_fast_exp(const Data& data) {
  const Arrays a = arrays(data);
  launch(fast_exp, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.out, a.n);
}

void run_folded_exp2(const Data& data) {
  const Arrays a = arrays(data);
  launch(folded_exp2, ceil_div(a.n, kThreads), kThreads, a.x, a.y, a.out, a.n);
}

void run_float4(const Data& data) {
  const Arrays a = arrays(data);
  launch(vectorised, ceil_div(a.n, 4 * vector_threads(a.n)), vector_threads(a.n), a.x, a.y, a.out, a.n);
}

void run_chain(const Data& data) {
  const Arrays a = arrays(data);
  // [chain]
  launch(elementwise<Chain<Add, Twice, Exp>, float, float>, ceil_div(a.n, 4 * vector_threads(a.n)),
         vector_threads(a.n), a.out, a.n, a.x, a.y);
  // [chain]
}

void run_in_flight(const Data& data) {
  const Arrays a = arrays(data);
  launch(in_flight, ceil_div(a.n, 4 * kInFlightTile), kInFlightThreads, a.x, a.y, a.out, a.n);
}

template <class T>
void run_halves(const Halves<T>& a, int n) {
  launch(halves<T>, ceil_div(n, 8 * vector_threads(n)), vector_threads(n), a.x, a.y, a.out, n);
}

void run_float16(const Data& data) { run_halves(float16_arrays(data), data.shape.dims[0]); }
void run_bfloat16(const Data& data) { run_halves(bfloat16_arrays(data), data.shape.dims[0]); }

// [many]
constexpr int kLaunches = 16;

/// Elements of one of kLaunches parts of n, whole sectors: the last part may be shorter, the last parts
/// empty.
int part_of(int n) { return ceil_div(ceil_div(n, kLaunches), 8) * 8; }

/// The same work as one launch of stage 2, in kLaunches of them.
void run_many(const Data& data) {
  const Arrays a = arrays(data);
  const int part = part_of(a.n);
  for (int begin = 0; begin < a.n; begin += part) {
    const int n = begin + part < a.n ? part : a.n - begin;
    launch(fused, ceil_div(n, kThreads), kThreads, a.x + begin, a.y + begin, a.out + begin, n);
  }
}
// [many]

#ifdef __CUDACC__
void run_dependent(const Data& data) {
  const Arrays a = arrays(data);
  const int part = part_of(a.n);
  for (int begin = 0; begin < a.n; begin += part) {
    const int n = begin + part < a.n ? part : a.n - begin;
    launch_dependent(dependent, ceil_div(n, kThreads), kThreads, a.x + begin, a.y + begin, a.out + begin, n);
  }
}
#else
constexpr void (*run_dependent)(const Data&) = nullptr;
#endif

int sum_block_count(int n) {
  const int wanted = ceil_div(n, 4 * kSumThreads);
  return wanted < kMostSumBlocks ? wanted : kMostSumBlocks;
}

void run_sum(const Data& data) {
  const Arrays a = arrays(data);
  const int count = sum_block_count(a.n);
  launch(sum_blocks, count, kSumThreads, a.x, a.y, a.partial, a.n);
  launch(sum_partials, 1, kSumThreads, a.partial, a.sum, count);
}

#ifdef HAS_CUB
void run_cub(const Data& data) {
  const Arrays a = arrays(data);
  cub_transform(a.x, a.y, a.out, a.n);
}
#else
constexpr void (*run_cub)(const Data&) = nullptr;
#endif

// --- The bytes that each stage should move, for arrays that start on a sector boundary ---

/// The vectors of `width`, then the elements left over, which lie in sectors of their own requests.
long long vector_bytes(const Shape& shape, int width, int bytes_each) {
  const long long n = elements(shape);
  return sector_bytes(n - n % width, bytes_each) + sector_bytes(n % width, bytes_each);
}

Traffic unfused_traffic(const Shape& s) {
  return {4 * sector_bytes(elements(s)), 3 * sector_bytes(elements(s))};
}
Traffic fused_traffic(const Shape& s) { return {2 * sector_bytes(elements(s)), sector_bytes(elements(s))}; }
Traffic vector_traffic(const Shape& s) { return {2 * vector_bytes(s, 4, 4), vector_bytes(s, 4, 4)}; }
Traffic half_traffic(const Shape& s) { return {2 * vector_bytes(s, 8, 2), vector_bytes(s, 8, 2)}; }

/// One float a block is stored by one thread alone, and costs the sector that it lies in.
Traffic sum_traffic(const Shape& s) {
  const int count = sum_block_count(s.dims[0]);
  return {2 * vector_bytes(s, 4, 4) + sector_bytes(count), count * sector_bytes(1) + sector_bytes(1)};
}

// --- How far float32 may be off ---
//
// With u = 2^-24 and the argument a, an error of c * u * (1 + |a|) relative to the result is c roundings of
// the magnitude above. The CUDA C++ Programming Guide, section "Mathematical Functions", bounds the distance
// from the correctly rounded result in ulps, so the distance from the true one is half an ulp more; an ulp is
// at most 2u.

/// expf: 1.5 ulps, beside the rounding of x + y, which is |a| u of the result.
int exact_roundings(const Shape&) { return 3; }

/// __expf: 2.5 + 1.173 |a| ulps, beside the sum's |a| u. exp2f: 2.5 ulps, beside three roundings of its
/// argument (the sum, the product, and the constant).
int fast_roundings(const Shape&) { return 5; }

/// The longest chain of additions that a term goes through, as in chapter 01: its thread's terms, with up to
/// 2 more inside a vector, the tree (8 levels), and in the second kernel the partial sums of one thread (4)
/// and the tree again (8); and before them what a term itself is off by.
int sum_roundings(const Shape& s) {
  const int threads = sum_block_count(s.dims[0]) * kSumThreads;
  return exact_roundings(s) + (s.dims[0] / threads + 1) + 2 + 8 + kMostSumBlocks / kSumThreads + 8;
}

const Stage kStages[] = {
    {.name = "1_unfused",
     .idea = "three kernels: two intermediates go through memory",
     .output = "out",
     .kernels = 3,
     .run = run_unfused,
     .traffic = unfused_traffic,
     .roundings = exact_roundings},
    {.name = "2_fused",
     .idea = "one kernel: the intermediates stay in registers",
     .output = "out",
     .kernels = 1,
     .run = run_fused,
     .traffic = fused_traffic,
     .roundings = exact_roundings},
    {.name = "3_fast_exp",
     .idea = "__expf: less arithmetic, a larger error",
     .output = "out",
     .kernels = 1,
     .run = run_fast_exp,
     .traffic = fused_traffic,
     .roundings = fast_roundings},
    {.name = "3_folded_exp2",
     .idea = "exp2f, with the factor 2 and log2(e) in one multiplication",
     .output = "out",
     .kernels = 1,
     .run = run_folded_exp2,
     .traffic = fused_traffic,
     .roundings = fast_roundings},
    {.name = "4_float4",
     .idea = "16 bytes a load, written by hand",
     .output = "out",
     .kernels = 1,
     .run = run_float4,
     .traffic = vector_traffic,
     .roundings = exact_roundings},
    {.name = "5_chain",
     .idea = "the same kernel, made by the compiler from a chain of functions",
     .output = "out",
     .kernels = 1,
     .run = run_chain,
     .traffic = vector_traffic,
     .roundings = exact_roundings},
    {.name = "6_in_flight",
     .idea = "two vectors of each array in flight per thread",
     .output = "out",
     .kernels = 1,
     .run = run_in_flight,
     .traffic = vector_traffic,
     .roundings = exact_roundings},
    {.name = "7_float16",
     .idea = "half the bytes: float16 in and out, float32 between",
     .output = "out_float16",
     .kernels = 1,
     .run = run_float16,
     .traffic = half_traffic,
     .roundings = exact_roundings},
    {.name = "7_bfloat16",
     .idea = "half the bytes: bfloat16 in and out, float32 between",
     .output = "out_bfloat16",
     .kernels = 1,
     .run = run_bfloat16,
     .traffic = half_traffic,
     .roundings = exact_roundings},
    {.name = "8_many",
     .idea = "stage 2 in 16 launches: what a launch costs",
     .output = "out",
     .kernels = workbook::kAnyNumber,
     .run = run_many,
     .traffic = fused_traffic,
     .roundings = exact_roundings},
    {.name = "8_dependent",
     .idea = "16 launches that may overlap: programmatic dependent launch",
     .output = "out",
     .kernels = workbook::kAnyNumber,
     .run = run_dependent,
     .traffic = fused_traffic,
     .roundings = exact_roundings,
     .needs = "a GPU of compute capability 9.0",
     .capability = 90},
    {.name = "9_sum",
     .idea = "only the sum is wanted: the terms are never written",
     .output = "sum",
     .kernels = 2,
     .run = run_sum,
     .traffic = sum_traffic,
     .roundings = sum_roundings},
    {.name = "10_cub",
     .idea = "library: cub::DeviceTransform",
     .output = "out",
     .kernels = 1,
     .run = run_cub,
     .traffic = fused_traffic,
     .roundings = exact_roundings,
     .needs = "a GPU and cub::DeviceTransform"},
};

const Shape kSweep[] = {{1 << 10, 1, 1},    {1 << 12, 1, 1},   {1 << 14, 1, 1}, {100'000, 1, 1},
                        {300'000, 1, 1},    {1'000'000, 1, 1}, {1 << 20, 1, 1}, {5'000'000, 1, 1},
                        {20'000'000, 1, 1}, {1 << 26, 1, 1},   {1 << 28, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "02_add_mul_exp",
          .formula = "out = exp((x+y)*2)",
          .dims = "N",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 26, 1, 1},
          .fill = fill};
}

}  // namespace DEVICE::add_mul_exp
