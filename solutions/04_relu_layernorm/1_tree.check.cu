/// \file
/// Specification of exercise 04.1, tree.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, bool squared, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = magnitude[r] = 0;
    for (int c = 0; c < columns; ++c) {
      const double x = host.floats("x")[static_cast<long long>(r) * columns + c];
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

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"sums", Type::kFloat32, Role::kOutput, rows, reference_sums},
                         {"squares", Type::kFloat32, Role::kOutput, rows, reference_squares}};

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
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_rows,
          .output = "sums squares",
          .roundings = any_block_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "RxC",
          .shapes = kRowShapes,
          .shape_count = kRowShapeCount,
          .blocks = kBlocks,
          .block_count = kBlockCount,
          .timed_shape = {{16384, 2048, 1}}};
}

}  // namespace DEVICE
