/// \file
/// Exercise 08.1, softmax: what it asks for, and how the file that is judged is called.
#include "../scores.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// A weight is off by the roundings of its own exponent and by those of the sum. Below 2^-126 float32 has no
/// relative precision, so 2^-100 is added.
void reference(const Data& host, double* expected, double* magnitude) {
  const int columns = host.shape.dims[1];
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const ScoreSum row = score_sum(host, r);
    for (int c = 0; c < columns; ++c) {
      const long long i = static_cast<long long>(r) * columns + c;
      const double x = host[kX][i];
      expected[i] = exp(x - row.most) / row.sum;
      const double exponent = isinf(x) ? 0 : exponent_size(x, row.most);
      magnitude[i] = expected[i] * (exponent + row.size / row.sum) + 0x1p-100;
    }
  }
}

constexpr auto kP = output<float>("p", all_scores, reference, {&kX});
constexpr const Array* kArrays[] = {&kX, &kP};

/// Each of 32 threads or more adds up its share, then the block adds up the threads; the rest is for two
/// exponentials, of two units in the last place each, and the division.
int roundings(const Shape& s) { return s.dims[1] / 32 + 24; }

long long three_reads(const Shape& s) { return 3 * score_bytes(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, three_reads,
     "maximum, sum and weights take a pass each: is there another one, or do the lanes of a warp not load "
     "neighbouring scores?"},
    {Cost::kWrittenBytes, score_bytes,
     "is each weight stored once, when it is final, by neighbouring lanes?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Subtracting the row's maximum from all scores leaves the weights as they are and keeps each "
              "exponential at 1 or below.",
          .lesson = "docs/08_attention.md, stage 1",
          .arrays = kArrays,
          .fill = fill_scores,
          .output = {&kP},
          .roundings = roundings,
          .limits = kLimits,
          .dims = "RxC",
          .shapes = kScoreShapes,
          .blocks = kScoreBlocks,
          .timed_shape = {{16384, 2048, 1}}};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  launch(attention_softmax::softmax, d.shape.dims[0], d.block, d[kX], d[kP], d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
