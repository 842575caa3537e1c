/// \file
/// Specification of exercise 04.6, layernorm_relu.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_rows_some_nan(host);
  fill_parameters(host);
}

void reference(const Data& host, double* expected, double* magnitude) {
  reference_layernorm(host, expected, magnitude);
  for (long long i = 0; i < elements(host.shape); ++i) expected[i] = positive_part(expected[i]);
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"bias", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"y", Type::kFloat32, Role::kOutput, elements, reference}};

long long three_reads(const Shape& s) { return 20 * elements(s); }
long long once(const Shape& s) { return 4 * elements(s); }

/// Rows too long for the registers of 256 threads, and one too long for 48 KiB of shared memory as well.
const Shape kShapes[] = {{{1, 1, 1}},    {{2, 2, 1}},    {{3, 31, 1}},    {{6, 33, 1}},
                         {{7, 255, 1}},  {{4, 256, 1}},  {{4, 257, 1}},   {{5, 1023, 1}},
                         {{2, 1999, 1}}, {{3, 2049, 1}}, {{2, 20001, 1}}, {{64, 2048, 1}}};

const Limit kLimits[] = {
    {Cost::kReadBytes, three_reads, "is there a pass over the row that another one could do as well?"},
    {Cost::kWrittenBytes, once, "is each element of y stored once, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt = "What comes before the mean and what comes after the shift is one kernel all the same.",
          .lesson = "docs/04_relu_layernorm.md, stage 10",
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
          .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
