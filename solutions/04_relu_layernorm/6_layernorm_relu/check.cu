/// \file
/// Exercise 04.6, layernorm_relu: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

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

constexpr auto kY = output<float>("y", elements, reference, {&kX, &kWeight, &kBias});
constexpr const Array* kArrays[] = {&kX, &kWeight, &kBias, &kY};

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
          .fill = fill,
          .output = {&kY},
          .roundings = row_roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kShapes,
          .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(layernorm_then_relu::layernorm_relu, d.shape.dims[0], 256, d[kX], d[kWeight], d[kBias], d[kY],
         d.shape.dims[1], kEpsilon);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
