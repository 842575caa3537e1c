/// \file
/// Specification of exercise 04.5, welford.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// As fill_rows(), but every third row is centred on 10,000, with the same spread.
void fill(const Data& host) {
  fill_rows(host);
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; r += 3)
    for (int c = 0; c < columns; ++c) host.floats("x")[static_cast<long long>(r) * columns + c] += 1e4f;
}

RowMoments row_moments(const Data& host, int r) {
  const int columns = host.shape.dims[1];
  return moments_of(host.floats("x") + static_cast<long long>(r) * columns, columns, identity);
}

void reference_means(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = row_moments(host, r).mean;
    magnitude[r] = row_moments(host, r).size;
  }
}

/// A mean that is off by e makes each distance wrong by e.
void reference_variances(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const RowMoments row = row_moments(host, r);
    expected[r] = row.variance;
    magnitude[r] = row.variance + 2 * sqrt(row.variance) * row.size;
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"means", Type::kFloat32, Role::kOutput, rows, reference_means},
                         {"variances", Type::kFloat32, Role::kOutput, rows, reference_variances}};

/// Four for each number and for each round of the tree.
int roundings(const Shape& s) { return 4 * sum_roundings(s); }

long long one(const Shape&) { return 1; }
long long one_read(const Shape& s) { return 4 * elements(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel can do both"},
    {Cost::kReadBytes, one_read, "each element is needed once"},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt = "Moments can be kept up to date and merged, without taking one large number from another.",
      .lesson = "docs/04_relu_layernorm.md, stage 9",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .output = "means variances",
      .roundings = roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .dims = "RxC",
      .shapes = kRowShapes,
      .shape_count = kRowShapeCount,
      .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
