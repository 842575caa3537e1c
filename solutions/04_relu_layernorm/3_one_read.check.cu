/// \file
/// Specification of exercise 04.3, one_read.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const long long first = static_cast<long long>(r) * columns;
    const RowMoments row = moments_of(host.floats("x") + first, columns, positive_part);
    const double inverse = 1 / sqrt(row.variance + double{kEpsilon});
    for (int c = 0; c < columns; ++c) {
      const double x = positive_part(host.floats("x")[first + c]);
      expected[first + c] = (x - row.mean) * inverse;
      magnitude[first + c] = (fabs(x) + row.size) * inverse;
    }
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"y", Type::kFloat32, Role::kOutput, elements, reference}};

long long once(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, once, "is something loaded that the thread has loaded before?"},
    {Cost::kWrittenBytes, once, "is each element of y stored once, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A row in registers is read once, and then a second look at it is free: so compute the "
              "variance as it is defined.",
          .lesson = "docs/04_relu_layernorm.md, stage 10",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_rows_some_nan,
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
