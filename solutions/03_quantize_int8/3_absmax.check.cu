/// \file
/// Specification of exercise 03.3, absmax.
#include "quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long rows(const Shape& shape) { return shape.dims[0]; }
long long elements(const Shape& shape) { return static_cast<long long>(shape.dims[0]) * shape.dims[1]; }

/// The column of the largest differs from row to row, and in every second row it is negative. If the row is
/// long enough, the thread that reads the largest reads a NaN next.
void fill(const Data& host) {
  const int columns = host.shape.dims[1], threads = 256;
  fill_uniform(host.floats("x"), elements(host.shape), -9.0f, 9.0f, 83);
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    float* row = host.floats("x") + static_cast<long long>(r) * columns;
    const int place = (r * 37 + columns - 1) % columns % threads;
    row[place] = r % 2 == 0 ? 10.0f + r : -10.0f - r;
    if (place + threads < columns) row[place + threads] = NAN;
  }
}

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = 0;
    for (int c = 0; c < columns; ++c) {
      const float value = fabsf(host.floats("x")[static_cast<long long>(r) * columns + c]);
      if (value > expected[r]) expected[r] = value;
    }
    magnitude[r] = 1;
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"largest", Type::kFloat32, Role::kOutput, rows, reference}};

int roundings(const Shape&) { return 0; }

long long none(const Shape&) { return 0; }
long long one_read(const Shape& s) { return 4 * elements(s); }
/// A tree over 256 threads: one store per warp, and then half of the threads, a quarter, and so on.
long long tree(const Shape& s) { return 80 * rows(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, one_read, "each element is needed once"},
    {Cost::kSharedWavefronts, tree, "half of the threads compare, then a quarter, and so on: eight rounds"},
    {Cost::kAtomics, none, "a tree needs no atomics, and its order is fixed"},
};

const Shape kShapes[] = {{{1, 1, 1}},   {{2, 2, 1}},   {{3, 31, 1}},   {{5, 33, 1}},   {{7, 255, 1}},
                         {{4, 256, 1}}, {{4, 257, 1}}, {{3, 1023, 1}}, {{2, 4099, 1}}, {{64, 2048, 1}}};

}  // namespace

Exercise exercise() {
  return {.learnt = "A block of T threads finds one value in log2(T) rounds, with a barrier after each.",
          .lesson = "docs/03_quantize_int8.md, stage 6",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "largest",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "RxC",
          .shapes = kShapes,
          .shape_count = sizeof kShapes / sizeof kShapes[0],
          .timed_shape = {{16384, 1024, 1}}};
}

}  // namespace DEVICE
