/// \file
/// Specification of exercise 07.1, fuse.
#include "numbers.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace gelu_dropout_numbers;

void fill(const Data& host) { fill_x(host, 171); }

const Array kArrays[] = {{"x", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"mask", Type::kInt8, Role::kScratch, elements, nullptr},
                         {"activated", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"y", Type::kFloat32, Role::kOutput, elements, reference_y<Fuse>}};

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
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .output = "y",
      .roundings = roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .shapes = kShorterLengths.data(),
      .shape_count = kShorterLengths.size()};
}

}  // namespace DEVICE
