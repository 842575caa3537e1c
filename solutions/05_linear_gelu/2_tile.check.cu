/// \file
/// Specification of exercise 05.2, tile.
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_product},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

/// Two loads for a multiplication of a warp, and for the stores, of which a tile needs 1/16, up to a quarter.
long long wavefronts(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 * 9 / 4; }

const Limit kLimits[] = {
    {Cost::kReadBytes, tiles_read, "does the block load each element of its tiles once, and nothing else?"},
    {Cost::kWrittenBytes, result_bytes, "is each element of the result stored once, when its sum is done?"},
    {Cost::kSharedWavefronts, wavefronts,
     "two loads per multiplication are enough, each of one wavefront: are there more accesses, or do lanes "
     "hit the same bank?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Tiles of T x T divide the bytes read from device memory by T. Elements beyond the edge are "
              "zeros, and two barriers per tile keep readers and writers apart.",
          .lesson = "docs/05_linear_gelu.md, stage 4",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_matrices,
          .output = "product",
          .roundings = product_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "MxKxN",
          .shapes = kProductShapes,
          .shape_count = kProductShapeCount,
          .timed_shape = {{1024, 512, 1024}}};
}

}  // namespace DEVICE
