/// \file
/// Chapter 03: q = clamp(round(x / scale + zero_point)) to int8, with one scale for all and with one for each
/// row. Stages, inputs and reference; compiled once for each device.
#include <math.h>

#include "1_unfused.cuh"
#include "2_fused.cuh"
#include "3_packed.cuh"
#include "4_wide.cuh"
#include "5_corrected.cuh"
#include "6_two_kernels.cuh"
#include "7_one_kernel.cuh"
#include "8_one_read.cuh"
#include "chapter.hpp"
#if defined(__CUDACC__) && __has_include(<cub/device/device_transform.cuh>)
#define HAS_CUB
#include "9_cub.gpu.cuh"
#endif

namespace DEVICE::quantize_int8 {
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

/// Of the stages with one scale: a step, and the step that 0 becomes.
constexpr float kScale = 0.05f, kZeroPoint = 3.0f;

// --- Arrays ---

long long rows(const Shape& shape) { return shape.dims[0]; }
long long elements(const Shape& shape) { return static_cast<long long>(shape.dims[0]) * shape.dims[1]; }

struct Arrays {
  int rows, columns, n;
  float *x, *one, *other, *scales;
  signed char *q, *q_rows;
};

Arrays arrays(const Data& d) {
  const auto bytes = [&](const char* name) { return static_cast<signed char*>(d.array(name, Type::kInt8)); };
  return {d.shape.dims[0],    d.shape.dims[1], d.shape.dims[0] * d.shape.dims[1],
          d.floats("x"),      d.floats("one"), d.floats("other"),
          d.floats("scales"), bytes("q"),      bytes("q_rows")};
}

// --- Inputs and reference ---

/// Rows differ in size; some elements are beyond the steps that kScale has.
void fill(const Data& host) {
  const Arrays a = arrays(host);
  workbook::fill_uniform(a.x, a.n, -7.0f, 8.0f, 31);
  for (int r = 0; r < a.rows; ++r) {
    float size = 0;
    workbook::fill_uniform(&size, 1, 0.1f, 1.0f, 1000u + static_cast<unsigned>(r));
    if (a.rows > 1)
      for (int c = 0; c < a.columns; ++c) a.x[static_cast<long long>(r) * a.columns + c] *= size;
  }
}

/// In float32, as the operation is defined: results must be equal.
float reference_step(float x, float scale, float zero_point) {
  const float quotient = x / scale;
  const float rounded = rintf(quotient + zero_point);
  if (rounded != rounded) return 0.0f;
  return rounded < -128.0f ? -128.0f : rounded > 127.0f ? 127.0f : rounded;
}

float reference_scale(const float* row, int columns) {
  float largest = 0.0f;
  for (int c = 0; c < columns; ++c)
    if (fabsf(row[c]) > largest) largest = fabsf(row[c]);
  return largest > 0.0f ? largest / 127.0f : 1.0f;
}

void reference_q(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int i = 0; i < a.n; ++i) {
    expected[i] = reference_step(a.x[i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

void reference_q_rows(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    const float* row = a.x + static_cast<long long>(r) * a.columns;
    const float scale = reference_scale(row, a.columns);
    for (int c = 0; c < a.columns; ++c) {
      expected[row - a.x + c] = reference_step(row[c], scale, 0.0f);
      magnitude[row - a.x + c] = 1;
    }
  }
}

void reference_scales(const Data& host, double* expected, double* magnitude) {
  const Arrays a = arrays(host);
  for (int r = 0; r < a.rows; ++r) {
    expected[r] = reference_scale(a.x + static_cast<long long>(r) * a.columns, a.columns);
    magnitude[r] = expected[r];
  }
}

const Array kArrays[] = {
    {"x", Type::kFloat32, Role::kInput, elements, nullptr},
    {"one", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"other", Type::kFloat32, Role::kScratch, elements, nullptr},
    {"q", Type::kInt8, Role::kOutput, elements, reference_q},
    {"q_rows", Type::kInt8, Role::kOutput, elements, reference_q_rows},
    {"scales", Type::kFloat32, Role::kOutput, rows, reference_scales},
};

// --- Stages with one scale ---

constexpr int kThreads = 256;

void run_unfused(const Data& data) {
  const Arrays a = arrays(data);
  const int grid = ceil_div(a.n, kThreads);
  launch(divide, grid, kThreads, a.x, kScale, a.one, a.n);
  launch(shift, grid, kThreads, a.one, kZeroPoint, a.other, a.n);
  launch(round_to_even, grid, kThreads, a.other, a.one, a.n);
  launch(clamp, grid, kThreads, a.one, a.other, a.n);
  launch(convert, grid, kThreads, a.other, a.q, a.n);
}

void run_fused(const Data& data) {
  const Arrays a = arrays(data);
  launch(fused, ceil_div(a.n, kThreads), kThreads, a.x, kScale, kZeroPoint, a.q, a.n);
}

void run_packed(const Data& data) {
  const Arrays a = arrays(data);
  launch(packed, ceil_div(a.n, 4 * kThreads), kThreads, a.x, kScale, kZeroPoint, a.q, a.n);
}

void run_wide(const Data& data) {
  const Arrays a = arrays(data);
  launch(wide, ceil_div(a.n, 16 * static_cast<int>(kWideThreads)), kWideThreads, a.x, kScale, kZeroPoint, a.q,
         a.n);
}

void run_corrected(const Data& data) {
  const Arrays a = arrays(data);
  launch(corrected, ceil_div(a.n, 8 * kCorrectedThreads), kCorrectedThreads, a.x,
         steps_of(kScale, kZeroPoint), a.q, a.n);
}

#ifdef HAS_CUB
void run_cub(const Data& data) {
  const Arrays a = arrays(data);
  cub_transform(a.x, kScale, kZeroPoint, a.q, a.n);
}
#else
constexpr void (*run_cub)(const Data&) = nullptr;
#endif

// --- Stages with a scale for each row ---

void run_two_kernels(const Data& data) {
  const Arrays a = arrays(data);
  launch(find_scales, a.rows, kRowThreads, a.x, a.scales, a.columns);
  launch(quantize_rows, a.rows, kRowThreads, a.x, a.scales, a.q_rows, a.columns);
}

void run_one_kernel(const Data& data) {
  const Arrays a = arrays(data);
  launch(quantize_twice, a.rows, kRowThreads, a.x, a.scales, a.q_rows, a.columns);
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
bool stays(int columns) { return waiting_bytes(columns) + 128 <= most_shared_bytes(); }

template <class Vector>
void launch_once(const Arrays& a) {
  const int vectors = a.columns / static_cast<int>(sizeof(Vector) / sizeof(float));
  const int waiting = waiting_bytes(a.columns);
  const int threads = waiting > 0 ? kLongRowThreads : ceil_div(ceil_div(vectors, kHeld<Vector>), 32) * 32;
  launch_shared(quantize_once<Vector>, a.rows, threads, static_cast<size_t>(waiting), a.x, a.scales, a.q_rows,
                a.columns);
}

bool aligned(const Arrays& a) {
  return a.columns % 4 == 0 && reinterpret_cast<size_t>(a.x) % 16 == 0 &&
         reinterpret_cast<size_t>(a.q_rows) % 4 == 0;
}

void run_one_read(const Data& data) {
  const Arrays a = arrays(data);
  if (!stays(a.columns)) {
    run_one_kernel(data);
  } else if (aligned(a)) {
    launch_once<float4>(a);
  } else {
    launch_once<float>(a);
  }
}

// --- The bytes that each stage should move, for arrays that start on a sector boundary ---

long long scale_bytes(const Shape& s) { return 32 * rows(s); }

Traffic unfused_traffic(const Shape& s) {
  const long long floats = sector_bytes(elements(s));
  return {5 * floats, 4 * floats + sector_bytes(elements(s), 1)};
}
Traffic fused_traffic(const Shape& s) { return {sector_bytes(elements(s)), sector_bytes(elements(s), 1)}; }

/// Vectors of `width`, then the singles behind them, a request for each 32.
Traffic split_traffic(const Shape& s, int width) {
  const long long n = elements(s), singles = n % width;
  Traffic traffic = {sector_bytes(n - singles), sector_bytes(n - singles, 1)};
  for (long long done = n - singles; done < n; done += 32) {
    const long long end = done + 32 < n ? done + 32 : n;
    traffic.read_bytes += ((end * 4 - 1) / 32 - done * 4 / 32 + 1) * 32;
    traffic.write_bytes += ((end - 1) / 32 - done / 32 + 1) * 32;
  }
  return traffic;
}
Traffic packed_traffic(const Shape& s) { return split_traffic(s, 4); }
Traffic wide_traffic(const Shape& s) { return split_traffic(s, 32 * 16); }

Traffic two_kernels_traffic(const Shape& s) {
  const long long reads = row_sector_bytes(s, 4, 1), writes = row_sector_bytes(s, 1, 1);
  // Each warp of a row asks for its scale.
  const long long warps = kRowThreads / 32;
  return {2 * reads + warps * scale_bytes(s), scale_bytes(s) + writes};
}
Traffic one_kernel_traffic(const Shape& s) {
  return {2 * row_sector_bytes(s, 4, 1), scale_bytes(s) + row_sector_bytes(s, 1, 1)};
}
Traffic one_read_traffic(const Shape& s) {
  if (!stays(s.dims[1])) return one_kernel_traffic(s);
  const int width = s.dims[1] % 4 == 0 ? 4 : 1;
  return {row_sector_bytes(s, 4, width), scale_bytes(s) + row_sector_bytes(s, 1, width)};
}

// --- How far results may be off: an int8 not at all, a scale by its one division ---

int no_roundings(const Shape&) { return 0; }
int one_rounding(const Shape&) { return 1; }

/// A block a row: rows that are not too few and too long for that.
bool has_rows(const Shape& s) { return s.dims[1] <= 1 << 17; }
constexpr const char* kRows = "rows of at most 131072 columns";

const Stage kStages[] = {
    {.name = "1_unfused",
     .idea = "five kernels: four floats go through memory for one byte",
     .output = "q",
     .kernels = 5,
     .run = run_unfused,
     .traffic = unfused_traffic,
     .roundings = no_roundings},
    {.name = "2_fused",
     .idea = "one kernel",
     .output = "q",
     .kernels = 1,
     .run = run_fused,
     .traffic = fused_traffic,
     .roundings = no_roundings},
    {.name = "3_packed",
     .idea = "float4 in, char4 out",
     .output = "q",
     .kernels = 1,
     .run = run_packed,
     .traffic = packed_traffic,
     .roundings = no_roundings},
    {.name = "4_wide",
     .idea = "sixteen elements a thread, one 16-byte store",
     .output = "q",
     .kernels = 1,
     .run = run_wide,
     .traffic = wide_traffic,
     .roundings = no_roundings},
    {.name = "5_corrected",
     .idea = "exact division in three instructions, two vectors a thread",
     .output = "q",
     .kernels = 1,
     .run = run_corrected,
     .traffic = packed_traffic,
     .roundings = no_roundings},
    {.name = "6_two_kernels",
     .idea = "a scale for each row: find it, then quantise",
     .output = "q_rows scales",
     .kernels = 2,
     .run = run_two_kernels,
     .traffic = two_kernels_traffic,
     .roundings = one_rounding,
     .needs = kRows,
     .suits = has_rows},
    {.name = "7_one_kernel",
     .idea = "one kernel, which reads its row twice",
     .output = "q_rows scales",
     .kernels = 1,
     .run = run_one_kernel,
     .traffic = one_kernel_traffic,
     .roundings = one_rounding,
     .needs = kRows,
     .suits = has_rows},
    {.name = "8_one_read",
     .idea = "the row stays in registers and shared memory",
     .output = "q_rows scales",
     .kernels = 1,
     .run = run_one_read,
     .traffic = one_read_traffic,
     .roundings = one_rounding,
     .needs = kRows,
     .suits = has_rows},
    {.name = "9_cub",
     .idea = "library: cub::DeviceTransform, one scale",
     .output = "q",
     .kernels = 1,
     .run = run_cub,
     .traffic = fused_traffic,
     .roundings = no_roundings,
     .needs = "a GPU and cub::DeviceTransform"},
};

const Shape kSweep[] = {{1, 500'000, 1},    {1, 1'000'000, 1}, {1, 5'000'000, 1}, {1, 10'000'000, 1},
                        {1, 50'000'000, 1}, {1, 1 << 28, 1},   {4096, 1024, 1},   {65536, 1024, 1},
                        {32768, 4096, 1},   {4096, 32768, 1}};

}  // namespace

Chapter chapter() {
  return {.name = "03_quantize_int8",
          .formula = "q = clamp(round(x/scale + zero_point))",
          .dims = "RxC",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .stages = kStages,
          .stage_count = sizeof kStages / sizeof kStages[0],
          .sweep = kSweep,
          .sweep_count = sizeof kSweep / sizeof kSweep[0],
          .cpu_shape = {256, 4096, 1},
          .gpu_shape = {32768, 4096, 1},
          .fill = fill};
}

}  // namespace DEVICE::quantize_int8
