/// \file
/// Exercise 08.2, online: what it asks for, and how the file that is judged is called.
#include "../scores.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

/// A thread rescales its sum with each score at worst, which costs four roundings and an addition: the
/// exponential has two units in the last place. The rounding of a difference of maxima counts once for each
/// step that a score's maximum takes up to the row's, and these steps add up to one difference.
int roundings(const Shape& s) { return 5 * (s.dims[1] / 32 + 1) + 60; }

/// The maximum is one of the scores, so less than half a unit is let pass.
void reference_most(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    expected[r] = score_sum(host, r).most;
    magnitude[r] = fabs(expected[r]) / (4 * roundings(host.shape));
  }
}

/// In a row of equal scores each exponential is 1 and the sum is a whole number, so one unit is let pass.
void reference_sum(const Data& host, double* expected, double* magnitude) {
  for (int r = 0; r < host.shape.dims[0]; ++r) {
    const ScoreSum row = score_sum(host, r);
    const bool exact = row.most == 0 && row.sum == host.shape.dims[1];
    expected[r] = row.sum;
    magnitude[r] = exact ? row.sum / roundings(host.shape) : row.size;
  }
}

constexpr auto kMost = output<float>("most", score_rows, reference_most, {&kX});
constexpr auto kSum = output<float>("sum", score_rows, reference_sum, {&kX});
constexpr const Array* kArrays[] = {&kX, &kMost, &kSum};

const Limit kLimits[] = {
    {Cost::kReadBytes, score_bytes, "is each score loaded once, for the maximum and for the sum?"},
    {Cost::kAtomics, no_atomics, "can the threads' maxima and sums be merged without atomics?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A sum of exponentials that is relative to the largest score so far is rescaled when a larger "
              "one arrives, so one pass finds both.",
          .lesson = "docs/08_attention.md, stage 6",
          .arrays = kArrays,
          .fill = fill_scores,
          .output = {&kMost, &kSum},
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
  launch(attention_online::largest_and_sum, d.shape.dims[0], d.block, d[kX], d[kMost], d[kSum],
         d.shape.dims[1]);
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
