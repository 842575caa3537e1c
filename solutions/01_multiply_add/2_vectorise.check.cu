/// \file
/// Specification of exercise 01.2, vectorise.
#include <math.h>

#include "exercise.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr float kFactor = -1.75f;

long long elements(const Shape& shape) { return shape.dims[0]; }

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_uniform(host.floats("x"), n, -1.0f, 2.0f, 21);
  fill_uniform(host.floats("y"), n, -2.0f, 3.0f, 22);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float *x = host.floats("x"), *y = host.floats("y");
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double product = static_cast<double>(kFactor) * x[i];
    expected[i] = product + y[i];
    magnitude[i] = fabs(product) + fabs(y[i]);
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"y", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"out", Type::kFloat32, Role::kOutput, elements, reference}};

void run(const Data& d) {
  multiply_add_vectorise::scale_and_add(kFactor, d.floats("x"), d.floats("y"), d.floats("out"),
                                        d.shape.dims[0]);
}

/// One rounding of the product, one of the sum.
int roundings(const Shape&) { return 2; }

/// Of a warp's 32 vectors each, with room for head and tail.
long long requests(const Shape& s) { return elements(s) / 128 + 8; }

long long one(const Shape&) { return 1; }
long long two_requests(const Shape& s) { return 2 * requests(s); }
/// Head and tail ask again for sectors that the vectors begin or end in.
// Vectors that begin in the middle of a sector: the 512 bytes of a warp lie in 17 sectors.
long long one_array(const Shape& s) { return sector_bytes(elements(s)) / 16 * 17 + 4 * sector_bytes(1); }
long long two_reads(const Shape& s) { return 2 * one_array(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "head, vectors and tail go into one kernel"},
    {Cost::kLoadRequests, two_requests,
     "a warp can ask for 512 bytes in one instruction: are these arrays loaded as float4?"},
    {Cost::kStoreRequests, requests, "out can be stored as float4 too: is it, with these arrays?"},
    {Cost::kReadBytes, two_reads,
     "x and y are needed once each: do neighbouring threads load neighbouring vectors, and warps whole "
     "sectors?"},
    {Cost::kWrittenBytes, one_array, "do neighbouring threads store neighbouring vectors?"},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt = "The bytes are the same in a quarter of the requests: more of them are under way at a time.",
      .lesson = "docs/01_multiply_add.md, stage 3",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .run = run,
      .output = "out",
      .roundings = roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .any_alignment = true};
}

}  // namespace DEVICE
