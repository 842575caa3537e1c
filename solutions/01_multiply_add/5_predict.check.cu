/// \file
/// Specification of exercise 01.5, predict.
#include "5_predict.cuh"
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace multiply_add_predict;

long long twice_and_one(const Shape& shape) { return 2 * elements(shape) + 1; }
long long four(const Shape&) { return 4; }

void fill(const Data& host) {
  const int n = host.shape.dims[0];
  fill_qkv(host, 51);
  fill_uniform(host.floats("x"), 2 * n + 1, -2.0f, 3.0f, 54);
  fill_uniform(host.floats("bias"), 4, -1.0f, 1.0f, 55);
}

const Array kArrays[] = {{"out", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"sum", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"product", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"q", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"k", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"v", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"x", Type::kFloat32, Role::kInput, twice_and_one, nullptr},
                         {"bias", Type::kFloat32, Role::kInput, four, nullptr}};

constexpr int kThreads = 256;
int block_count(const Data& d) { return ceil_div(d.shape.dims[0], kThreads); }

void run_fused(const Data& d) {
  launch(fused, block_count(d), kThreads, d.floats("q"), d.floats("k"), d.floats("v"), d.floats("out"),
         d.shape.dims[0]);
}
void run_unfused(const Data& d) {
  const int n = d.shape.dims[0];
  launch(add, block_count(d), kThreads, d.floats("q"), d.floats("k"), d.floats("sum"), n);
  launch(multiply, block_count(d), kThreads, d.floats("sum"), d.floats("v"), d.floats("product"), n);
  launch(add, block_count(d), kThreads, d.floats("product"), d.floats("q"), d.floats("out"), n);
}
void run_every_second(const Data& d) {
  launch(every_second, block_count(d), kThreads, d.floats("x"), d.floats("out"), d.shape.dims[0]);
}
void run_bias(const Data& d) {
  launch(add_bias, block_count(d), kThreads, d.floats("x"), d.floats("bias"), d.floats("out"),
         d.shape.dims[0]);
}
void run_neighbours(const Data& d) {
  launch(mean_with_next, block_count(d), kThreads, d.floats("x"), d.floats("out"), d.shape.dims[0]);
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
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .predictions = kPredictions,
      .prediction_count = sizeof kPredictions / sizeof kPredictions[0],
      .shapes = kShorterLengths.data(),
      .shape_count = kShorterLengths.size()};
}

}  // namespace DEVICE
