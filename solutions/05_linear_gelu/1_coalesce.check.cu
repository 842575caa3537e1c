/// \file
/// Specification of exercise 05.1, coalesce.
#include "products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_product},
                         {"x", Type::kFloat32, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kFloat32, Role::kInput, n_times_k, nullptr}};

long long eight_bytes(const Shape& s) { return 8 * m_times_n(s) * s.dims[1]; }
long long requests(const Shape& s) { return 2 * m_times_n(s) * ceil_div(s.dims[1], 32); }

const Limit kLimits[] = {
    {Cost::kReadBytes, eight_bytes, "do neighbouring lanes load neighbouring words?"},
    {Cost::kLoadRequests, requests, "do all 32 lanes load in each request, every element once?"},
};

/// Short and long rows, with and without a tail. Costs are counted at the last shape, where every row starts
/// at a sector.
constexpr Shape kShapes[] = {{{1, 1, 1}},   {{2, 3, 5}},   {{1, 40, 70}},  {{31, 33, 32}},
                             {{2, 127, 9}}, {{3, 132, 9}}, {{70, 9, 130}}, {{64, 256, 64}}};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Which index runs along the lanes decides what a request costs: here k, the one along which "
              "both matrices are contiguous.",
          .lesson = "docs/05_linear_gelu.md, stage 2",
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
