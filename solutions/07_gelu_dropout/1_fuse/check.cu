/// \file
/// Exercise 07.1, fuse: what it asks for, and how the file that is judged is called.
#include "../numbers.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_numbers;

constexpr auto kMask = scratch<signed char>("mask", elements);
constexpr auto kActivated = scratch<float>("activated", elements);

void fill(const Data& host) { fill_x(host, 171); }

constexpr auto kY = output<float>("y", elements, reference_y<Fuse>, {&kX});
constexpr const Array* kArrays[] = {&kX, &kMask, &kActivated, &kY};

const Limit kLimits[] = {
    {Cost::kLaunches, one, "can one kernel do the work of all three?"},
    {.cost = Cost::kReadBytes,
     .allowed = array_bytes,
     .excess = "a fused kernel reads each element of x once, and nothing else: does it read back what it or "
               "another kernel has stored?",
     .scattered = kScatteredLoads},
    {.cost = Cost::kWrittenBytes,
     .allowed = array_bytes,
     .excess = "only y must be written: does the mask or the result of GELU still go through memory?",
     .scattered = kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Random numbers that are computed where they are needed are never in memory. Fused, dropout adds "
          "no bytes to GELU.",
      .lesson = "docs/07_gelu_dropout.md, stage 2",
      .arrays = kArrays,
      .fill = fill,
      .output = {&kY},
      .roundings = roundings,
      .limits = kLimits,
      .shapes = kShorterLengths};
}

// --- How the file that is judged is called ---

namespace {

void run(const Data& d) {
  gelu_dropout_fuse::gelu_dropout(d[kX], d[kMask], d[kActivated], d[kY], d.shape.dims[0],
                                  gelu_dropout_numbers::dropout_of<gelu_dropout_numbers::Fuse>(d.shape));
}

}  // namespace

Answer answer() { return {.run = run}; }

}  // namespace DEVICE
