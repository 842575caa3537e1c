/// \file
/// Specification of exercise 02.4, launches.
#include "4_launches.cuh"
#include "add_mul_exp.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace add_mul_exp_launches;

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  const float *x = host.floats("x"), *y = host.floats("y");
  fill_xy(host, 71);
  for (int i = 0; i < n; ++i) {
    half_array(host, "x_half")[i] = __float2half(x[i]);
    half_array(host, "y_half")[i] = __float2half(y[i]);
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"y", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"x_half", Type::kFloat16, Role::kInput, elements, nullptr},
                         {"y_half", Type::kFloat16, Role::kInput, elements, nullptr},
                         {"between", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"out", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"out_half", Type::kFloat16, Role::kScratch, elements, nullptr}};

void run_unfused(const Data& d) {
  unfused(d.floats("x"), d.floats("y"), d.floats("between"), d.floats("out"), d.shape.dims[0]);
}
void run_fused(const Data& d) { fused(d.floats("x"), d.floats("y"), d.floats("out"), d.shape.dims[0]); }
void run_halves(const Data& d) {
  halves(half_array(d, "x_half"), half_array(d, "y_half"), half_array(d, "out_half"), d.shape.dims[0]);
}
void run_sliced(const Data& d) { sliced(d.floats("x"), d.floats("y"), d.floats("out"), d.shape.dims[0]); }
void run_two_results(const Data& d) {
  two_results(d.floats("x"), d.floats("y"), d.floats("between"), d.floats("out"), d.shape.dims[0]);
}

const Prediction kPredictions[] = {{"unfused", run_unfused, true},  {"unfused", run_unfused},
                                   {"fused", run_fused, true},      {"fused", run_fused},
                                   {"halves", run_halves},          {"sliced", run_sliced, true},
                                   {"sliced", run_sliced},          {"two results", run_two_results, true},
                                   {"two results", run_two_results}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Launches and bytes are all that a memory-bound pipeline costs, and both can be counted by hand.",
      .lesson = "docs/02_add_mul_exp.md, stage 8",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .predictions = kPredictions,
      .prediction_count = sizeof kPredictions / sizeof kPredictions[0],
      .shapes = kShorterLengths.data(),
      .shape_count = kShorterLengths.size()};
}

}  // namespace DEVICE
