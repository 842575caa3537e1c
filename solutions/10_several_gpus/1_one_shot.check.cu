/// \file
/// Specification of exercise 10.1, one_shot.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace rows_on_gpus;

const Array kArrays[] = {{"y", Type::kFloat32, Role::kOutput, elements, reference_y},
                         {"h", Type::kFloat32, Role::kOutput, elements, reference_h},
                         {"product", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"residual", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"x", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"flags", Type::kUint32, Role::kState, flags, nullptr}};

/// A float for each element of each GPU.
long long floats_each(const Shape& s) { return 4 * gpus(s) * elements(s); }

/// Of x, residual, h and weight.
long long bytes_to_read(const Shape& s) {
  return (gpus(s) + 3) * floats_each(s) + 2 * meetings(s, rows(s), 2);
}
long long bytes_to_write(const Shape& s) { return 2 * floats_each(s) + gpus(s) * meetings(s, rows(s), 2); }
long long peer_bytes_to_read(const Shape& s) { return (gpus(s) - 1) * floats_each(s); }
long long peer_bytes_to_write(const Shape& s) { return (gpus(s) - 1) * meetings(s, rows(s), 2); }

const Limit kLimits[] = {
    {Cost::kPeerReadBytes, peer_bytes_to_read, "does each GPU load each element of the others' x once?"},
    {Cost::kPeerWrittenBytes, peer_bytes_to_write,
     "does a GPU store h or y in another one's memory, or meet the others more than twice?"},
    {Cost::kReadBytes, bytes_to_read, "what is loaded twice?", nullptr, kScatteredLoads},
    {Cost::kWrittenBytes, bytes_to_write, "are h and y each stored once?", nullptr, kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A kernel reads other GPUs' memory as its own, so the sum over the GPUs can stay in registers. "
              "It waits before it reads, and before its own memory is written again.",
          .lesson = "docs/10_several_gpus.md, stage 2",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "h y",
          .roundings = roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .gpus = gpus,
          .dims = "GxRxC",
          .shapes = kShapes,
          .shape_count = kShapeCount,
          .timed_shape = {{2, 512, 8192}}};
}

}  // namespace DEVICE
