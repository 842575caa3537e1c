/// \file
/// Exercise 01.5, predict: what it asks for, and how the file that is judged is called.
#include "../multiply_add.hpp"

#ifdef SPECIFICATION  // after the solution; other files need not have its kernels
namespace DEVICE {
namespace {

using namespace workbook;
using namespace multiply_add_predict;

long long twice_and_one(const Shape& shape) { return 2 * elements(shape) + 1; }
long long four(const Shape&) { return 4; }

constexpr auto kOut = scratch<float>("out", elements);
constexpr auto kSum = scratch<float>("sum", elements);
constexpr auto kProduct = scratch<float>("product", elements);
constexpr auto kQ = input<float>("q", elements);
constexpr auto kK = input<float>("k", elements);
constexpr auto kV = input<float>("v", elements);
constexpr auto kX = input<float>("x", twice_and_one);
constexpr auto kBias = input<float>("bias", four);

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_qkv(host, 51);
  fill_uniform(host[kX], 2 * n + 1, -2.0f, 3.0f, 54);
  fill_uniform(host[kBias], 4, -1.0f, 1.0f, 55);
}

constexpr const Array* kArrays[] = {&kOut, &kSum, &kProduct, &kQ, &kK, &kV, &kX, &kBias};

constexpr int kThreads = 256;
int block_count(const Data& d) { return ceil_div(d.shape.dims[0], kThreads); }

void run_fused(const Data& d) {
  launch(fused, block_count(d), kThreads, d[kQ], d[kK], d[kV], d[kOut], d.shape.dims[0]);
}
void run_unfused(const Data& d) {
  const int n = d.shape.dims[0];
  launch(add, block_count(d), kThreads, d[kQ], d[kK], d[kSum], n);
  launch(multiply, block_count(d), kThreads, d[kSum], d[kV], d[kProduct], n);
  launch(add, block_count(d), kThreads, d[kProduct], d[kQ], d[kOut], n);
}
void run_every_second(const Data& d) {
  launch(every_second, block_count(d), kThreads, d[kX], d[kOut], d.shape.dims[0]);
}
void run_bias(const Data& d) {
  launch(add_bias, block_count(d), kThreads, d[kX], d[kBias], d[kOut], d.shape.dims[0]);
}
void run_neighbours(const Data& d) {
  launch(mean_with_next, block_count(d), kThreads, d[kX], d[kOut], d.shape.dims[0]);
}

const Prediction kPredictions[] = {{"fused", run_fused},
                                   {"unfused", run_unfused},
                                   {"every second", run_every_second},
                                   {"bias", run_bias},
                                   {"neighbours", run_neighbours}};

}  // namespace

Exercise exercise() {
  return {
      .learnt = "Traffic follows from the code and the sector alone: it can be known before anything runs.",
      .lesson = "docs/01_multiply_add.md, stage 5",
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

const double kNumbers[] = {static_cast<double>(multiply_add_predict::kFusedBytes),
                           static_cast<double>(multiply_add_predict::kUnfusedBytes),
                           static_cast<double>(multiply_add_predict::kEverySecondBytes),
                           static_cast<double>(multiply_add_predict::kBiasBytes),
                           static_cast<double>(multiply_add_predict::kNeighboursBytes)};

}  // namespace

workbook::Answer answer() { return {.predictions = kNumbers}; }

}  // namespace DEVICE
