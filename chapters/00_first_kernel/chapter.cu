/// \file
/// Chapter 00: out = 2 * x, the first kernel.
/// Stages, inputs and reference; compiled once for each device.
#include "1_one_block.cuh"
#include "2_coalesced.cuh"
#include "3_grid.cuh"
#include "chapter.hpp"

namespace DEVICE::first_kernel {
namespace {

using workbook::Array;
using workbook::Chapter;
using workbook::Data;
using workbook::Role;
using workbook::sector_bytes;
using workbook::Shape;
using workbook::Stage;
using workbook::Traffic;
using workbook::Type;

// --- Arrays, inputs and reference ---

long long elements(const Shape& shape) { return shape.dims[0]; }

struct Arrays {
  int n;
  float *x, *out;
};

Arrays arrays(const Data& d) { return {d.shape.dims[0], d.floats("x"), d.floats("out")}; }

void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.x, a.n, -1.0f, 2.0f, 1);
}

void reference_out(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    expected[i] = 2.0 * a.x[i];
    magnitude[i] = expected[i] < 0 ? -expected[i] : expected[i];
  }
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"out", Type::kFloat32, Role::kOutput, elements, reference_out},
};

// --- Stages ---

// [one block]
constexpr int kThreads = 256;

void run_one_block(const Data& data) {
  const Arrays a = arrays(data);
  launch(twice_in_parts, 1, kThreads, a.x, a.out, a.n);
}
// [one block]

void run_coalesced(const Data& data) {
  const Arrays a = arrays(data);
  launch(twice_in_turns, 1, kThreads, a.x, a.out, a.n);
}

// [grid]
void run_grid(const Data& data) {
  const Arrays a = arrays(data);
  const int blocks = (a.n - 1) / kThreads + 1;  // n / kThreads, rounded up
  launch(twice, blocks, kThreads, a.x, a.out, a.n);
}
// [grid]

// --- The bytes that each stage should move, for arrays that start on a sector boundary ---

/// The lanes of a warp are `part` elements apart. From 8 on each has a sector of its own; below, they touch
/// every sector from that of the first lane to that of the last.
long long sectors_in_parts(long long n) {
  constexpr long long kLanes = 32, kFloats = 8;  // of a warp, of a sector
  const long long part = (n - 1) / kThreads + 1;
  if (part >= kFloats) return n;
  long long sectors = 0;
  for (long long begin = 0; begin < n; begin += kLanes * part)
    for (long long first = begin; first < begin + part && first < n; ++first) {
      const long long lanes = (n - 1 - first) / part + 1;
      const long long last = first + ((lanes < kLanes ? lanes : kLanes) - 1) * part;
      sectors += last / kFloats - first / kFloats + 1;
    }
  return sectors;
}

Traffic parts_traffic(const Shape& s) {
  const long long bytes = 32 * sectors_in_parts(elements(s));
  return {bytes, bytes};
}
Traffic each_once_traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(elements(s))}; }

/// Doubling is exact.
int no_roundings(const Shape&) { return 0; }

const Stage kStages[] = {
    {.name = "1_one_block",
     .idea = "one block of threads, each with a part of the array from end to end",
     .output = "out",
     .kernels = 1,
     .run = run_one_block,
     .traffic = parts_traffic,
     .roundings = no_roundings},
    {.name = "2_coalesced",
     .idea = "neighbouring threads take neighbouring elements: no byte of a sector is wasted",
     .output = "out",
     .kernels = 1,
     .run = run_coalesced,
     .traffic = each_once_traffic,
     .roundings = no_roundings},
    {.name = "3_grid",
     .idea = "a grid of blocks, one thread an element: the whole GPU has work",
     .output = "out",
     .kernels = 1,
     .run = run_grid,
     .traffic = each_once_traffic,
     .roundings = no_roundings},
};

// One element shows what a launch costs; 2^26, what the memory gives.
const Shape kSweep[] = {{1, 1, 1},       {1 << 10, 1, 1}, {1 << 14, 1, 1}, {1 << 18, 1, 1},
                        {1 << 20, 1, 1}, {1 << 22, 1, 1}, {1 << 24, 1, 1}, {1 << 26, 1, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "00_first_kernel",
          .formula = "out = 2*x",
          .dims = "N",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {1 << 20, 1, 1},
          .gpu_shape = {1 << 24, 1, 1},
          .fill = fill};
}

}  // namespace DEVICE::first_kernel
