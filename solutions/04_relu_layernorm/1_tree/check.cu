/// \file
/// Exercise 04.1, tree: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, bool squared, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = magnitude[r] = 0;
    for (int c = 0; c < columns; ++c) {
      const double x = host[kX][static_cast<long long>(r) * columns + c];
      expected[r] += squared ? x * x : x;
      magnitude[r] += squared ? x * x : fabs(x);
    }
  }
}
void reference_sums(const Data& host, double* expected, double* magnitude) {
  reference(host, false, expected, magnitude);
}
void reference_squares(const Data& host, double* expected, double* magnitude) {
  reference(host, true, expected, magnitude);
}

constexpr auto kSums = output<float>("sums", rows, reference_sums, {&kX});
constexpr auto kSquares = output<float>("squares", rows, reference_squares, {&kX});
constexpr const Array* kArrays[] = {&kX, &kSums, &kSquares};

long long one_read(const Shape& s) { return 4 * elements(s); }
long long none(const Shape&) { return 0; }
/// A tree over 256 threads takes 52, and there are two: a store of each of 8 warps, three wavefronts for each
/// warp that adds, and the sum read by all warps. A tree that adds neighbours first takes 157.
long long trees(const Shape& s) { return 200 * rows(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, one_read, "is each element read once, for the sum and for its square?"},
    {Cost::kSharedWavefronts, trees, "are the words that the lanes of a warp add next to each other?"},
    {Cost::kAtomics, none, "can each round add without atomics, in a fixed order?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A tree adds up a block of T threads in log2(T) rounds, and a shared array that is used again "
              "needs a barrier before and after.",
          .lesson = "docs/04_relu_layernorm.md, stage 3",
          .arrays = kArrays,
          .fill = fill_rows,
          .output = {&kSums, &kSquares},
          .roundings = any_block_roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kRowShapes,
          .blocks = kBlocks,
          .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(layernorm_tree::row_sums, d.shape.dims[0], d.block, d[kX], d[kSums], d[kSquares], d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
