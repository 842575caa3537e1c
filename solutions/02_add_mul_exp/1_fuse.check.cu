/// \file
/// Specification of exercise 02.1, fuse.
#include "add_mul_exp.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) { fill_xy(host, 61); }

/// A relative error of the argument a becomes |a| times as large in exp(a).
void reference(const Data& host, double* expected, double* magnitude) {
  const float *x = host.floats("x"), *y = host.floats("y");
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double argument = (static_cast<double>(x[i]) + y[i]) * 2;
    expected[i] = exp(argument);
    magnitude[i] = expected[i] * (1 + fabs(argument));
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"y", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"between", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"out", Type::kFloat32, Role::kOutput, elements, reference}};

/// The sum, and expf or one of its faster variants.
int roundings(const Shape&) { return 5; }

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel do the work of both?"},
    {.cost = Cost::kReadBytes,
     .allowed = two_array_bytes,
     .excess = "a fused kernel needs x and y once each: is something read again?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = array_bytes,
     .excess = "only out must be written: does an intermediate go through memory?",
     .scattered = kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {.learnt = "However long the chain, fused it reads its inputs and writes its output, once each.",
          .lesson = "docs/02_add_mul_exp.md, stage 2",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "out",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
