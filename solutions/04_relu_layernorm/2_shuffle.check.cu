/// \file
/// Specification of exercise 04.2, shuffle.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) {
      const double x = host.floats("x")[static_cast<long long>(r) * columns + c];
      sum += x * x;
    }
    expected[r] = magnitude[r] = sum;
  }
}

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"squares", Type::kFloat32, Role::kOutput, rows, reference}};

long long one_read(const Shape& s) { return 4 * elements(s); }
long long none(const Shape&) { return 0; }
/// The sums of 8 warps are stored, and each warp reads them, in one request or thread 0 in 8.
long long few(const Shape& s) { return 24 * rows(s); }
long long two(const Shape& s) { return 2 * rows(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, one_read, "is each element read once?"},
    {Cost::kSharedWavefronts, few, "eight warps have eight sums: what else goes through shared memory?"},
    {Cost::kBarriers, two, "which threads read what others wrote to shared memory, and how many times?"},
    {Cost::kAtomics, none, "can the sums of the warps be added without atomics?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt = "Lanes of a warp add up in five exchanges of registers; shared memory is for the warps.",
          .lesson = "docs/04_relu_layernorm.md, stage 4",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_rows,
          .output = "squares",
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
