/// \file
/// Specification of exercise 10.2, two_shot.
#include "rows.hpp"

namespace DEVICE {
namespace {

using namespace workbook;
using namespace rows_on_gpus;

const Array kArrays[] = {{"y", Type::kFloat32, Role::kOutput, elements, reference_y},
                         {"product", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"residual", Type::kFloat32, Role::kInput, elements, nullptr},
                         {"weight", Type::kFloat32, Role::kInput, columns, nullptr},
                         {"x", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"h", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"next", Type::kFloat32, Role::kScratch, elements, nullptr},
                         {"flags", Type::kUint32, Role::kState, flags, nullptr}};

/// A float for each element of the rows of all GPUs together, which are all rows.
long long floats_once(const Shape& s) { return 4 * elements(s); }
long long most_rows(const Shape& s) { return ceil_div(rows(s), static_cast<long long>(gpus(s))); }

/// Of x, residual, h and weight.
long long bytes_to_read(const Shape& s) {
  return (gpus(s) + 3) * floats_once(s) + 2 * meetings(s, most_rows(s), 2);
}
/// Of h and y.
long long bytes_to_write(const Shape& s) {
  return (gpus(s) + 1) * floats_once(s) + gpus(s) * meetings(s, most_rows(s), 2);
}
long long peer_bytes_to_read(const Shape& s) { return (gpus(s) - 1) * floats_once(s); }
long long peer_bytes_to_write(const Shape& s) {
  return (gpus(s) - 1) * (floats_once(s) + meetings(s, most_rows(s), 2));
}

const Limit kLimits[] = {
    {Cost::kPeerReadBytes, peer_bytes_to_read,
     "does each GPU load the rows that it has alone, and each once?"},
    {Cost::kPeerWrittenBytes, peer_bytes_to_write, "is each element of y stored once on each GPU?"},
    {Cost::kReadBytes, bytes_to_read, "what is loaded twice?", nullptr, kScatteredLoads},
    {Cost::kWrittenBytes, bytes_to_write, "what is stored twice?", nullptr, kScatteredStores},
};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Where each GPU has a part of the rows, no work is done twice, and with more than two GPUs fewer "
          "bytes go over NVLink. Stores to other GPUs need a meeting before anyone reads them.",
      .lesson = "docs/10_several_gpus.md, stage 4",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill,
      .output = "y",
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
