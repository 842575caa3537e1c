/// \file
/// Specification of exercise 05.3, register_tile.
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_product},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

/// What tiles of 64 x 64 need, twice: four steps of k at a time use half of each sector.
long long bytes_read(const Shape& s) { return 4 * m_times_n(s) * s.dims[1] * 2 / 64 * 2; }
/// For sixteen multiplications of a warp: eight loads, and up to two stores; a tile needs half of one.
long long requests(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 / 16 * 10; }
/// The same where lanes conflict in pairs at four of the loads, or at a transposed store more of them.
long long wavefronts(const Shape& s) { return m_times_n(s) * s.dims[1] / 32 / 16 * 14; }

const Limit kLimits[] = {
    {Cost::kReadBytes, bytes_read, "does the block load each element of its tiles once?"},
    {Cost::kSharedRequests, requests,
     "in one step, does each thread load its four elements of x and its four of w from shared memory once?"},
    {Cost::kSharedWavefronts, wavefronts,
     "are there more requests than needed, or do lanes of one request hit the same bank?"},
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
