/// \file
/// Specification of exercise 01.3, strided.
#include <math.h>

#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_uniform(host.floats("q"), n, -1.0f, 2.0f, 31);
  fill_uniform(host.floats("k"), n, -0.5f, 1.0f, 32);
  fill_uniform(host.floats("v"), n, -2.0f, 3.0f, 33);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float *q = host.floats("q"), *k = host.floats("k"), *v = host.floats("v");
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double product = static_cast<double>(q[i]) * k[i];
    expected[i] = product + v[i];
    magnitude[i] = fabs(product) + fabs(v[i]);
  }
}

const Array kArrays[] = {{"q", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"k", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"v", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"out", Type::kFloat32, Role::kOutput, elements, reference}};

void run(const Data& d) {
  multiply_add_strided::multiply_add(d.floats("q"), d.floats("k"), d.floats("v"), d.floats("out"),
                                     d.shape.dims[0]);
}

/// One rounding of the product, one of the sum.
int roundings(const Shape&) { return 2; }

long long one(const Shape&) { return 1; }
long long three_reads(const Shape& s) { return 3 * sector_bytes(elements(s)); }
long long one_write(const Shape& s) { return sector_bytes(elements(s)); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one launch is enough"},
    {Cost::kReadBytes, three_reads,
     "q, k and v are read once each, but how many 32-byte sectors does a warp touch in one load?"},
    {Cost::kWrittenBytes, one_write,
     "a sector is written whole: how many of its 32 bytes does a warp have for it at a time?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Right and slow looks like right and fast: what a warp touches in one instruction decides, and "
              "it can be counted.",
          .lesson = "docs/01_multiply_add.md, Count",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .run = run,
          .output = "out",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
