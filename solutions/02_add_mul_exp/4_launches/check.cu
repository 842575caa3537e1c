/// \file
/// Exercise 02.4, launches: what it asks for, and how the file that is judged is called.
#include "../add_mul_exp.hpp"

#ifdef SPECIFICATION  // after the solution; other files need not have its kernels
namespace DEVICE {
namespace {

using namespace workbook;
namespace given = add_mul_exp_launches;

constexpr auto kXHalf = input<__half>("x_half", elements);
constexpr auto kYHalf = input<__half>("y_half", elements);
constexpr auto kBetween = scratch<float>("between", elements);
constexpr auto kOut = scratch<float>("out", elements);
constexpr auto kOutHalf = scratch<__half>("out_half", elements);

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  const float *x = host[kX], *y = host[kY];
  __half *x_half = host[kXHalf], *y_half = host[kYHalf];
  fill_xy(host, 71);
  for (int i = 0; i < n; ++i) {
    x_half[i] = __float2half(x[i]);
    y_half[i] = __float2half(y[i]);
  }
}

constexpr const Array* kArrays[] = {&kX, &kY, &kXHalf, &kYHalf, &kBetween, &kOut, &kOutHalf};

void run_unfused(const Data& d) { given::unfused(d[kX], d[kY], d[kBetween], d[kOut], d.shape.dims[0]); }
void run_fused(const Data& d) { given::fused(d[kX], d[kY], d[kOut], d.shape.dims[0]); }
void run_halves(const Data& d) { given::halves(d[kXHalf], d[kYHalf], d[kOutHalf], d.shape.dims[0]); }
void run_sliced(const Data& d) { given::sliced(d[kX], d[kY], d[kOut], d.shape.dims[0]); }
void run_two_results(const Data& d) {
  given::two_results(d[kX], d[kY], d[kBetween], d[kOut], d.shape.dims[0]);
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
      .fill = fill,
      .predictions = kPredictions,
      .shapes = kShorterLengths};
}

}  // namespace DEVICE
#endif

// --- How the file that is judged is called ---

namespace DEVICE {
namespace {

namespace given = add_mul_exp_launches;
const double kNumbers[] = {
    static_cast<double>(given::kUnfusedLaunches), static_cast<double>(given::kUnfusedBytes),
    static_cast<double>(given::kFusedLaunches),   static_cast<double>(given::kFusedBytes),
    static_cast<double>(given::kHalvesBytes),     static_cast<double>(given::kSlicedLaunches),
    static_cast<double>(given::kSlicedBytes),     static_cast<double>(given::kTwoResultsLaunches),
    static_cast<double>(given::kTwoResultsBytes),
};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE
