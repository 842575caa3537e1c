/// \file
/// Specification of exercise 05.3, register_tile.
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_product},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

long long tiles_read(const Shape& s) { return 4 * m_times_n(s) * s.dims[1] * 2 / 64; }
/// Eight loads for sixteen multiplications of a warp; the stores of a tile have two wavefronts each.
long long wavefronts(const Shape& s) {
  return m_times_n(s) * s.dims[1] / 32 / 2 + 2 * m_times_n(s) * s.dims[1] * 2 / 64 / 32;
}

const Limit kLimits[] = {
    {Cost::kLaunches, one_launch, "one kernel can do all of it"},
    {Cost::kReadBytes, tiles_read, "a tile comes from device memory once"},
    {Cost::kSharedWavefronts, wavefronts,
     "four elements of x and four of w, once per step: are they in registers?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Shared memory is slow compared with registers. With R x C elements per thread, R + C loads "
              "serve R * C multiplications.",
          .lesson = "docs/05_linear_gelu.md, stages 5 and 6",
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
