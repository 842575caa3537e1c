/// \file
/// Specification of exercise 03.2, pack.
#include "quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long elements(const Shape& shape) { return shape.dims[0]; }

void fill(const Data& host) { fill_for_int8(host.floats("x"), host.shape.dims[0]); }

void reference(const Data& host, double* expected, double* magnitude) {
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    expected[i] = step_of(host.floats("x")[i], kScale, kZeroPoint);
    magnitude[i] = 1;
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"q", Type::kInt8, Role::kOutput, elements, reference}};

int roundings(const Shape&) { return 0; }

long long one(const Shape&) { return 1; }
/// One request per warp, for 128 elements; and one for those left over.
long long warps(const Shape& s) { return (elements(s) + 127) / 128 + 1; }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel can do the vectors and what is left over"},
    {Cost::kLoadRequests, warps, "a thread that loads a float4 reads four elements at once"},
    {Cost::kStoreRequests, warps, "a thread that stores a char4 writes four bytes at once"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A warp whose lanes store single bytes fills one sector per request. Wide stores keep the "
              "requests few when elements get small.",
          .lesson = "docs/03_quantize_int8.md, stage 3",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "q",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
