/// \file
/// Exercise 02.1, fuse: what it asks for, and how the file that is judged is called.
#include "../add_mul_exp.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

constexpr auto kBetween = scratch<float>("between", elements);

void fill(const Data& host) { fill_xy(host, 61); }

/// A relative error of the argument a becomes |a| times as large in exp(a).
void reference(const Data& host, double* expected, double* magnitude) {
  const float *x = host[kX], *y = host[kY];
  for (int i = 0; i < host.shape.dims[0]; ++i) {
    const double argument = (static_cast<double>(x[i]) + y[i]) * 2;
    expected[i] = exp(argument);
    magnitude[i] = expected[i] * (1 + fabs(argument));
  }
}

constexpr auto kOut = output<float>("out", elements, reference, {&kX, &kY});
constexpr const Array* kArrays[] = {&kX, &kY, &kBetween, &kOut};

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
          .fill = fill,
          .output = {&kOut},
          .roundings = roundings,
          .limits = kLimits};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  add_mul_exp_fuse::add_mul_exp(d[kX], d[kY], d[kBetween], d[kOut], d.shape.dims[0]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
