/// \file
/// Exercise 04.4, conflicts: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = magnitude[r] = 0;
    for (int c = 0; c < columns; ++c) {
      const double x = host[kX][static_cast<long long>(r) * columns + c];
      expected[r] += x;
      magnitude[r] += fabs(x);
    }
  }
}

constexpr auto kSums = output<float>("sums", rows, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kSums};

/// A lane adds up a whole row.
int roundings(const Shape& s) { return s.dims[1] + 2; }

long long one_read(const Shape& s) { return 4 * elements(s); }
/// Without conflicts, 32 stores and 32 loads for a tile. Where two lanes meet in one bank, the loads alone
/// take 64.
long long few(const Shape& s) { return 80 * ((rows(s) + 31) / 32) * ((columns(s) + 31) / 32); }
long long none(const Shape&) { return 0; }

const Limit kLimits[] = {
    {Cost::kReadBytes, one_read, "are the loads from x still coalesced?"},
    {Cost::kSharedWavefronts, few, "do lanes of a warp still read different words of one bank?"},
    {Cost::kAtomics, none, "can one lane add up a row, without atomics?"},
};

const Shape kShapes[] = {{{1, 1, 1}},   {{2, 33, 1}},  {{31, 31, 1}},  {{32, 32, 1}},  {{33, 64, 1}},
                         {{65, 97, 1}}, {{127, 5, 1}}, {{40, 257, 1}}, {{256, 512, 1}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt = "Words a multiple of 32 apart share a bank; a row that is one word longer moves them apart.",
      .lesson = "docs/04_relu_layernorm.md, stage 3",
      .arrays = kArrays,
      .fill = fill_rows,
      .output = {&kSums},
      .roundings = roundings,
      .limits = kLimits,
      .dims = "RxC",
      .shapes = kShapes,
      .timed_shape = {{65536, 512, 1}}};
}

// --- How the file that is judged is called ---

namespace {

/// A block of 32 x 8 threads for each 32 rows.
void run(const Data& d) {
  const int rows = d.shape.dims[0], columns = d.shape.dims[1];
  launch(layernorm_conflicts::sum_rows, (rows - 1) / 32 + 1, dim3(32, 8), d[kX], d[kSums], rows, columns);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
