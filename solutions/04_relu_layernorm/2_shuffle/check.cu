/// \file
/// Exercise 04.2, shuffle: what it asks for, and how the file that is judged is called.
#include "../rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c) {
      const double x = host[kX][static_cast<long long>(r) * columns + c];
      sum += x * x;
    }
    expected[r] = magnitude[r] = sum;
  }
}

constexpr auto kSquares = output<float>("squares", rows, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kSquares};

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
          .fill = fill_rows,
          .output = {&kSquares},
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
  launch(layernorm_shuffle::row_squares, d.shape.dims[0], d.block, d[kX], d[kSquares], d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
