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
    {Cost::kLaunches, one_launch, "one kernel can do all of it"},
    {Cost::kReadBytes, fragments, "load a fragment of x and one of w for each step of k"},
    {Cost::kWrittenBytes, result_bytes, "the product, once"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "A fragment belongs to the warp: every lane calls, and which element is whose is the "
              "hardware's business.",
          .lesson = "docs/06_tensor_cores.md, stage 1",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill_bfloat16,
          .output = "product",
          .roundings = tensor_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "MxKxN",
          .shapes = kTensorShapes,
          .shape_count = kTensorShapeCount,
          .timed_shape = {{1024, 512, 1024}}};
}

}  // namespace DEVICE
