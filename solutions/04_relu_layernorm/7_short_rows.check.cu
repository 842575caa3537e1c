/// \file
/// Specification of exercise 04.7, short_rows.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_rows_some_large(host);
  fill_parameters(host);
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"bias", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"y", Type::kFloat32, Role::kOutput, elements, reference_layernorm}};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "y",
          .roundings = row_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "RxC",
          .shapes = kShapes,
          .shape_count = sizeof kShapes / sizeof kShapes[0],
          .timed_shape = {{262144, 128, 1}}};
}

}  // namespace DEVICE
