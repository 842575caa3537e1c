/// \file
/// Specification of exercise 06.2, epilogue_bf16.
#include "tensor_products.hpp"

namespace DEVICE {
namespace {

using namespace workbook;

void fill(const Data& host) {
  fill_bfloat16(host);
  workbook::fill_uniform(host.floats("bias"), host.shape.dims[2], -2.0f, 1.0f, 73);
}

void reference(const Data& host, double* expected, double* magnitude) {
  reference_bfloat16(host, expected, magnitude);
  finish_reference(host, expected, magnitude);
}

const Array kArrays[] = {{"y", Type::kBFloat16, Role::kOutput, m_times_n, reference},
                         {"product", Type::kFloat32, Role::kScratch, m_times_n, nullptr},
                         {"x", Type::kBFloat16, Role::kInput, m_times_k, nullptr},
                         {"w", Type::kBFloat16, Role::kInput, n_times_k, nullptr},
                         {"bias", Type::kFloat32, Role::kInput, columns_of_y, nullptr}};

/// A fragment of x and one of w per step for every 16 x 16 elements, and a bias for each element.
long long fragments_and_bias(const Shape& s) { return 2 * fragment_bytes(s) + 4 * m_times_n(s); }
long long rounded_bytes(const Shape& s) { return 2 * m_times_n(s); }

const Limit kLimits[] = {
    {Cost::kLaunches, one_launch, "what does the second kernel still have to do?"},
    {Cost::kReadBytes, fragments_and_bias, "is anything read but x, w and a bias for each element?"},
    {Cost::kWrittenBytes, rounded_bytes,
     "is y written once: is the product stored as well, or does each store of a warp fill only part of its "
     "sectors?"},
};

}  // namespace

Exercise exercise() {
  return {.learnt =
              "Sums stay in float32 until the epilogue is done, and are rounded once: rounded before GELU "
              "as well, a result can be off by a hundred units in the last place.",
          .lesson = "docs/06_tensor_cores.md, stage 1",
          .arrays = kArrays,
          .array_count = sizeof kArrays / sizeof kArrays[0],
          .fill = fill,
          .output = "y",
          .roundings = tensor_roundings,
          .limits = kLimits,
          .limit_count = sizeof kLimits / sizeof kLimits[0],
          .dims = "MxKxN",
          .shapes = kTensorShapes,
          .shape_count = kTensorShapeCount,
          .timed_shape = {{1024, 512, 1024}}};
}

}  // namespace DEVICE
