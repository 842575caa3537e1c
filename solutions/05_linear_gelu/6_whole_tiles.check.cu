/// \file
/// Specification of exercise 05.6, whole_tiles.
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_product},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

const Limit kLimits[] = {
    {Cost::kReadBytes, tiles_read,
     "each thread loads one element of x and one of w per step: do all of a block's loads together bring "
     "each "
     "element of its tiles once?"},
    {Cost::kWrittenBytes, result_bytes, "is each element of the result stored once, when its sum is done?"},
};

constexpr Shape kShapes[] = {{{32, 32, 32}}, {{32, 64, 32}},  {{32, 32, 96}},
                             {{64, 32, 32}}, {{96, 128, 64}}, {{256, 64, 256}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "Tiles of T x T divide the bytes read from global memory by T. One barrier waits until a tile is "
          "there, another one until all have used it.",
      .lesson = "docs/05_linear_gelu.md, stage 4",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill_matrices,
      .output = "product",
      .roundings = product_roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .dims = "MxKxN",
      .shapes = kShapes,
      .shape_count = sizeof kShapes / sizeof kShapes[0],
      .timed_shape = {{1024, 512, 1024}}};
}

}  // namespace DEVICE
