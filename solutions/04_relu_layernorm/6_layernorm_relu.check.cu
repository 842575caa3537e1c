/// \file
/// Specification of exercise 04.6, layernorm_relu.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_rows(host);
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

long long one(const Shape&) { return 1; }
long long three_reads(const Shape& s) { return 20 * elements(s); }
long long compulsory(const Shape& s) { return 4 * elements(s) + 2 * 4 * columns(s); }
long long once(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel can do all of it"},
    {Cost::kReadBytes, three_reads, "three times x, and weight and bias once per row"},
    {Cost::kCompulsoryReadBytes, compulsory, "x, weight and bias, once each"},
    {Cost::kWrittenBytes, once, "y, once"},
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
          .shapes = kRowShapes,
          .shape_count = kRowShapeCount,
          .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
