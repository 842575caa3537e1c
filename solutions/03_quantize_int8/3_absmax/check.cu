/// \file
/// Exercise 03.3, absmax: what it asks for, and how the file that is judged is called.
#include "../quantize.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

long long rows(const Shape& shape) { return shape.dims[0]; }
long long elements(const Shape& shape) { return static_cast<long long>(shape.dims[0]) * shape.dims[1]; }

constexpr auto kX = input<float>("x", elements);

/// The column of the largest differs from row to row, and in every second row it is negative. NaN stands next
/// to it, in the first column of some rows, and, if the row is long enough, where a thread of a block of 256
/// that has read the largest reads next. Every fifth row from the fourth on is nothing but NaN.
void fill(const Data& host) {
  const int columns = host.shape.dims[1], threads = 256;
  fill_uniform(host[kX], elements(host.shape), -9.0f, 9.0f, 83);
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    float* row = host[kX] + static_cast<long long>(r) * columns;
    const int place = (r * 37 + columns - 1) % columns;
    if (r % 3 == 1) row[0] = NAN;
    if (place > 0) row[place - 1] = NAN;
    row[place] = r % 2 == 0 ? 10.0f + r : -10.0f - r;
    if (place + threads < columns) row[place + threads] = NAN;
    for (int c = 0; r % 5 == 3 && c < columns; ++c) row[c] = NAN;
  }
}

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = 0;
    for (int c = 0; c < columns; ++c) {
      const float value = fabsf(host[kX][static_cast<long long>(r) * columns + c]);
      if (value > expected[r]) expected[r] = value;
    }
    magnitude[r] = 1;
  }
}

constexpr auto kLargest = output<float>("largest", rows, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kLargest};

int roundings(const Shape&) { return 0; }

long long none(const Shape&) { return 0; }
long long one_read(const Shape& s) { return 4 * elements(s); }
/// A tree over 256 threads takes about 50: one store per warp, and then half of the threads, a quarter, and
/// so on. With the active threads spread over all warps, or with bank conflicts, it takes 150. One thread
/// that looks at all values takes at least 264.
long long tree(const Shape& s) { return 200 * rows(s); }

const Limit kLimits[] = {
    {.cost = Cost::kReadBytes,
     .allowed = one_read,
     .excess = "is something read again? Each element is needed once",
     .scattered = kScatteredLoads},
    {Cost::kSharedWavefronts, tree,
     "after each round of a tree half of the values are left: does a thread look at many of them?"},
    {Cost::kAtomics, none, "can the threads compare their values in rounds, without atomics?"},
};

const Shape kShapes[] = {{{1, 1, 1}},    {{2, 2, 1}},    {{3, 31, 1}},   {{5, 33, 1}},
                         {{7, 255, 1}},  {{4, 256, 1}},  {{4, 257, 1}},  {{5, 1023, 1}},
                         {{4, 1024, 1}}, {{9, 1100, 1}}, {{4, 4099, 1}}, {{64, 2048, 1}}};

/// The last is what costs are judged at.
const int kBlocks[] = {32, 96, 1024, 256};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A block of T threads finds one value in log2(T) rounds, rounded up, with a barrier after each.",
      .lesson = "docs/03_quantize_int8.md, stage 6",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kLargest},
      .roundings = roundings,
      .limits = kLimits,
      .dims = "RxC",
      .shapes = kShapes,
      .blocks = kBlocks,
      .timed_shape = {{16384, 1024, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(quantize_absmax::find_largest, d.shape.dims[0], d.block, d[kX], d[kLargest], d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
