/// \file
/// Specification of exercise 01.2, pairs.
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long two_per_element(const Shape& s) { return 2 * elements(s); }

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_uniform(host.floats("pairs"), 2 * n, -1.5f, 2.0f, 31);
  fill_uniform(host.floats("v"), n, -2.0f, 3.0f, 32);
}

void reference(const Data& host, double* expected, double* magnitude) {
  const float *pairs = host.floats("pairs"), *v = host.floats("v");
  for (int i = 0; i < host.shape.dims[0]; ++i)
    reference_element(pairs[2 * i], pairs[2 * i + 1], v[i], &expected[i], &magnitude[i]);
}

const Array kArrays[] = {{"v", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"pairs", Type::kFloat32, Role::kInput, two_per_element, nullptr},
                         {"out", Type::kFloat32, Role::kOutput, elements, reference}};

const Limit kLimits[] = {
    {Cost::kLaunches, one, "one kernel is enough: pairs need not be taken apart into two arrays first"},
    {Cost::kReadBytes, three_array_bytes,
     "q, k and v are needed once each: how many sectors does a warp touch when it loads its 32 values of q, "
     "and what else is in them? Is a vector copied to a variable before its members are used?"},
    {Cost::kWrittenBytes, array_bytes, "do neighbouring threads store neighbouring elements of out?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Two loads touched the same sectors, and each of them used half of their bytes. One load of 8 "
              "bytes per lane uses them whole.",
          .lesson = "docs/01_multiply_add.md, stage 2",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "out",
          .roundings = multiply_add_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
