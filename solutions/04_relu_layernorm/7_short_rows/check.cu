/// \file
/// Exercise 04.7, short_rows: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"
#include "ceil_div.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_rows_some_large(host);
  fill_parameters(host);
}

constexpr auto kY = output<float>("y", elements, reference_layernorm, {&kX, &kWeight, &kBias});
constexpr const Array* kArrays[] = {&kX, &kWeight, &kBias, &kY};

long long parameters_once_for_four(const Shape& s) { return 6 * elements(s); }
long long once(const Shape& s) { return 4 * elements(s); }

const Shape kShapes[] = {{{1, 128, 1}},  {{2, 128, 1}},  {{3, 128, 1}},  {{4, 128, 1}},   {{5, 128, 1}},
                         {{15, 128, 1}}, {{16, 128, 1}}, {{33, 128, 1}}, {{1024, 128, 1}}};

const Limit kLimits[] = {
    {Cost::kReadBytes, parameters_once_for_four,
     "does one request of the warp bring weight, or bias, for all four rows? And is each element of x loaded "
     "once?"},
    {Cost::kWrittenBytes, once, "is each element of y stored once, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A short row needs no whole warp. Rows that share a warp share what they all load: one request "
              "brings weight for four rows.",
          .lesson = "docs/04_relu_layernorm.md, stage 11",
          .arrays = kArrays,
          .fill = fill,
          .output = {&kY},
          .roundings = row_roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kShapes,
          .timed_shape = {{262144, 128, 1}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 128 threads for each 16 rows.
void run(const Data& d) {
  const int rows = d.shape.dims[0];
  launch(layernorm_short_rows::normalise, ceil_div(rows, 16), 128, d[kX], d[kWeight], d[kBias], d[kY], rows,
         kEpsilon);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
