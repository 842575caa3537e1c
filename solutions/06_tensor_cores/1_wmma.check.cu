/// \file
/// Specification of exercise 06.1, wmma.
#include "tensor_products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

const Array kArrays[] = {{"product", Type::kFloat32, Role::kOutput, m_times_n, reference_bfloat16},
                         {"x", Type::kBFloat16, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kBFloat16, Role::kInput, n_times_k, nullptr}};

long long fragments(const Shape& s) { return 2 * fragment_bytes(s); }

const Limit kLimits[] = {
    {Cost::kReadBytes, fragments,
     "do x and w come in fragments, one of each for a step of k, and is nothing loaded twice?"},
    {Cost::kWrittenBytes, result_bytes,
     "is each fragment of the product stored once, when its sums are done?"},
};

/// As in tensor_products.hpp, and multiples of 16 that are none of 32.
constexpr Shape kShapes[] = {
    {{16, 16, 16}}, {{32, 96, 32}}, {{48, 80, 112}}, {{64, 32, 160}}, {{64, 64, 256}}};

}  // namespace

Exercise exercise() {
  return {
      .learnt =
          "A fragment belongs to the warp: every lane calls, and which lane holds which element is up to the "
          "hardware.",
      .lesson = "docs/06_tensor_cores.md, stage 1",
      .arrays = kArrays,
      .array_count = sizeof kArrays / sizeof kArrays[0],
      .fill = fill_bfloat16,
      .output = "product",
      .roundings = tensor_roundings,
      .limits = kLimits,
      .limit_count = sizeof kLimits / sizeof kLimits[0],
      .dims = "MxKxN",
      .shapes = kShapes,
      .shape_count = sizeof kShapes / sizeof kShapes[0],
      .timed_shape = {{1024, 512, 1024}}};
}

}  // namespace DEVICE
