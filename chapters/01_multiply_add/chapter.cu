/// \file
/// Chapter 01: out = q * k + v, from two kernels to one at the speed of memory.
/// Stages, inputs and reference; compiled once for each device.
#include <math.h>

#include "1_unfused.cuh"
#include "2_fused.cuh"
#include "3_float4.cuh"
#include "4_in_flight.cuh"
#include "5_reduced.cuh"
#include "chapter.hpp"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#define HAS_CUB
#include "6_cub.gpu.cuh"
#endif

namespace DEVICE::multiply_add {
namespace {

using workbook::Array;
using workbook::blocks;
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
  float *q, *k, *v, *product, *out, *partial, *sum;
};

Arrays arrays(const Data& d) {
  return {d.shape.dims[0],     d.floats("q"),   d.floats("k"),       d.floats("v"),
          d.floats("product"), d.floats("out"), d.floats("partial"), d.floats("sum")};
}

// --- Inputs and reference ---

void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.q, a.n, -1.0f, 2.0f, 1);
  workbook::fill_uniform(a.k, a.n, -0.5f, 1.0f, 2);
  workbook::fill_uniform(a.v, a.n, -2.0f, 3.0f, 3);
}

struct Term {
  double value, magnitude;
};

Term reference_term(const Arrays& a, int i) {
  const double product = static_cast<double>(a.q[i]) * a.k[i];
  return {product + a.v[i], fabs(product) + fabs(a.v[i])};
}

void reference_out(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    const Term term = reference_term(a, i);
    expected[i] = term.value;
    magnitude[i] = term.magnitude;
  }
}

void reference_sum(const Data& host, double* expected, double* magnitude) {
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

// --- Stages ---

constexpr int kThreads = 256;

/// Two such blocks fill 1536 of a multiprocessor's thread slots: on an H200 the fastest of 128 to 1024 by a
/// little.
constexpr int kFloat4Threads = 768;

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  launch(multiply, blocks(a.n, kThreads), kThreads, a.q, a.k, a.product, a.n);
  launch(add, blocks(a.n, kThreads), kThreads, a.product, a.v, a.out, a.n);
}

void run_fused(const Data& data) {
  const Arrays a = arrays(data);
  launch(fused, blocks(a.n, kThreads), kThreads, a.q, a.k, a.v, a.out, a.n);
}

void run_float4(const Data& data) {
  const Arrays a = arrays(data);
  launch(vectorised, blocks(a.n, 4 * kFloat4Threads), kFloat4Threads, a.q, a.k, a.v, a.out, a.n);
}

void run_in_flight(const Data& data) {
  const Arrays a = arrays(data);
  launch(in_flight, blocks(a.n, 4 * kInFlightTile), kInFlightThreads, a.q, a.k, a.v, a.out, a.n);
}

int sum_block_count(int n) {
  const int wanted = blocks(n, 4 * kSumThreads);
  return wanted < kMostSumBlocks ? wanted : kMostSumBlocks;
}

void run_reduced(const Data& data) {
  const Arrays a = arrays(data);
  const int count = sum_block_count(a.n);
  launch(sum_blocks, count, kSumThreads, a.q, a.k, a.v, a.partial, a.n);
  launch(sum_partials, 1, kSumThreads, a.partial, a.sum, count);
}

#ifdef HAS_CUB
void run_cub(const Data& data) {
  const Arrays a = arrays(data);
  cub_transform(a.q, a.k, a.v, a.out, a.n);
}
#else
constexpr void (*run_cub)(const Data&) = nullptr;
#endif

// --- The bytes that each stage should move, for arrays that start on a sector boundary ---

/// The vectors, then the one to three elements left over, which lie in one sector of their own request.
long long vector_bytes(const Shape& shape) {
  const long long n = elements(shape);
  return sector_bytes(n - n % 4) + sector_bytes(n % 4);
}

Traffic unfused_traffic(const Shape& s) {
  return {4 * sector_bytes(elements(s)), 2 * sector_bytes(elements(s))};
}
Traffic fused_traffic(const Shape& s) { return {3 * sector_bytes(elements(s)), sector_bytes(elements(s))}; }
Traffic float4_traffic(const Shape& s) { return {3 * vector_bytes(s), vector_bytes(s)}; }

/// One float a block is stored by one thread alone, and costs the sector that it lies in.
Traffic reduced_traffic(const Shape& s) {
  const int count = sum_block_count(s.dims[0]);
  return {3 * vector_bytes(s) + sector_bytes(count), count * sector_bytes(1) + sector_bytes(1)};
}

// --- How far float32 may be off ---

/// One rounding of the product, one of the sum; a fused multiply-add makes only the second.
int elementwise_roundings(const Shape&) { return 2; }

/// The longest chain of additions that a term of the sum goes through: the element itself (2), its thread's
/// elements (at most n / threads + 1, with up to 2 more inside a vector), the tree (8 levels), and in the
/// second kernel the partial sums of one thread (4) and the tree again (8). A sum is off by at most that many
/// roundings of the sum of the terms' absolute values (N. Higham, Accuracy and Stability of Numerical
/// Algorithms, section 4.2). Since each thread's share grows with n, so does the bound.
int sum_roundings(const Shape& s) {
  const int threads = sum_block_count(s.dims[0]) * kSumThreads;
  return 2 + (s.dims[0] / threads + 1) + 2 + 8 + kMostSumBlocks / kSumThreads + 8;
}

const Stage kStages[] = {
    {.name = "1_unfused",
     .idea = "two kernels: the product makes a round trip through memory",
     .output = "out",
     .kernels = 2,
     .run = run_unfused,
     .traffic = unfused_traffic,
     .roundings = elementwise_roundings},
    {.name = "2_fused",
     .idea = "one kernel: the product stays in a register",
     .output = "out",
     .kernels = 1,
     .run = run_fused,
     .traffic = fused_traffic,
     .roundings = elementwise_roundings},
    {.name = "3_float4",
     .idea = "16 bytes a load: the same bytes in a quarter of the requests",
     .output = "out",
     .kernels = 1,
     .run = run_float4,
     .traffic = float4_traffic,
     .roundings = elementwise_roundings},
    {.name = "4_in_flight",
     .idea = "several loads in flight per thread, and streaming hints",
     .output = "out",
     .kernels = 1,
     .run = run_in_flight,
     .traffic = float4_traffic,
     .roundings = elementwise_roundings},
    {.name = "5_reduced",
     .idea = "only the sum is wanted: the output is never written",
     .output = "sum",
     .kernels = 2,
     .run = run_reduced,
     .traffic = reduced_traffic,
     .roundings = sum_roundings},
    {.name = "6_cub",
     .idea = "library: cub::DeviceTransform",
     .output = "out",
     .kernels = 1,
     .run = run_cub,
     .traffic = fused_traffic,
     .roundings = elementwise_roundings,
     .needs = "a GPU and cub::DeviceTransform"},
};

const Shape kSweep[] = {{1 << 10, 1, 1}, {1 << 12, 1, 1}, {1 << 14, 1, 1},    {1 << 16, 1, 1},
                        {100'000, 1, 1}, {1 << 18, 1, 1}, {1'000'000, 1, 1},  {1 << 20, 1, 1},
                        {1 << 22, 1, 1}, {1 << 24, 1, 1}, {20'000'000, 1, 1}, {1 << 26, 1, 1},
                        {1 << 28, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "01_multiply_add",
          .formula = "out = q*k + v",
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

}  // namespace DEVICE::multiply_add
