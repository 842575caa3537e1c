/// \file
/// Specification of exercise 04.6, layernorm_relu.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_rows_some_large(host);
  fill_uniform(host.floats("weight"), columns(host.shape), 0.5f, 1.5f, 92);
  fill_uniform(host.floats("bias"), columns(host.shape), -0.5f, 1.0f, 93);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const long long first = static_cast<long long>(r) * columns;
    const RowMoments row = moments_of(host.floats("x") + first, columns, identity);
    for (int c = 0; c < columns; ++c) {
      const double x = host.floats("x")[first + c], bias = host.floats("bias")[c];
      const double factor = host.floats("weight")[c] / sqrt(row.variance + double{kEpsilon});
      expected[first + c] = positive_part((x - row.mean) * factor + bias);
      magnitude[first + c] = (fabs(x) + row.size) * fabs(factor) + fabs(bias);
    }
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"bias", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"y", Type::kFloat32, Role::kOutput, elements, reference}};

long long three_reads(const Shape& s) { return 20 * elements(s); }
long long once(const Shape& s) { return 4 * elements(s); }

/// Rows too long for the registers of 256 threads, and one too long for 48 KiB of shared memory as well.
const Shape kShapes[] = {{{1, 1, 1}},    {{2, 2, 1}},    {{3, 31, 1}},    {{6, 33, 1}},
                         {{7, 255, 1}},  {{4, 256, 1}},  {{4, 257, 1}},   {{5, 1023, 1}},
                         {{2, 1999, 1}}, {{3, 2049, 1}}, {{2, 20001, 1}}, {{64, 2048, 1}}};

const Limit kLimits[] = {
    {Cost::kReadBytes, three_reads, "is there a pass over the row that another one could do as well?"},
    {Cost::kWrittenBytes, once, "is each element of y stored once, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt = "What comes before the mean and what comes after the shift is one kernel all the same.",
          .lesson = "docs/04_relu_layernorm.md, stage 10",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "y",
          .roundings = row_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "RxC",
          .shapes = kShapes,
          .shape_count = sizeof kShapes / sizeof kShapes[0],
          .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
