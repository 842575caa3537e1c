/// \file
/// Specification of exercise 01.3, strided.
#include "multiply_add.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) { fill_qkv(host, 31); }

const Limit kLimits[] = {
    {Cost::kReadBytes, three_array_bytes,
     "q, k and v are read once each, but how many 32-byte sectors does a warp touch in one load?"},
    {Cost::kWrittenBytes, array_bytes,
     "a sector is written whole: how many of its 32 bytes does a warp have for it at a time?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Right and slow looks like right and fast: what a warp touches in one instruction decides, and "
              "it can be counted.",
          .lesson = "docs/01_multiply_add.md, Count",
          .arrays = kQkvArrays,
          .array_count = kQkvArrayCount,
          .fill = fill,
          .output = "out",
          .roundings = multiply_add_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0]};
}

}  // namespace DEVICE
