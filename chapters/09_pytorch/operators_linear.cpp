/// \file
/// Linear and GELU in one operator, as PyTorch sees it (see operators.cpp).
#include "checks.hpp"

using namespace workbook_ops;

namespace {

/// x is rows x inputs, whatever dimensions the rows have; weight is outputs x inputs.
struct Linear {
  int type;
  std::int64_t rows = 1, inputs = 0, outputs = 0;
  std::vector<std::int64_t> shape = {};
};

Linear check_linear(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Linear linear = {type_of(op, {"x", x}, false)};
  if (linear.type == kFloat16) refuse(op, "x must be float32 or bfloat16, not Half");
  check_same_type_and_device(op, {"x", x}, {"weight", weight});
  check_same_type_and_device(op, {"x", x}, {"bias", bias});
  const std::int64_t dims = x.dim();
  if (dims == 0) refuse(op, "x must have at least one dimension, the last of which is multiplied");
  linear.inputs = x.size(dims - 1);
  if (weight.dim() != 2 || weight.size(1) != linear.inputs)
    refuse(op, "weight must have two dimensions, the second one ", linear.inputs,
           ", that of the last dimension of x, but is ", Shape{weight});
  linear.outputs = weight.size(0);
  if (bias.dim() != 1 || bias.size(0) != linear.outputs)
    refuse(op, "bias must have the shape [", linear.outputs,
           "], that of the first dimension of weight, but is ", Shape{bias});
  for (std::int64_t i = 0; i + 1 < dims; ++i) {
    linear.shape.push_back(x.size(i));
    linear.rows *= x.size(i);
  }
  linear.shape.push_back(linear.outputs);
  return linear;
}

/// rows * columns^T, by PyTorch.
Tensor multiply(const Tensor& rows, const Tensor& columns, const Linear& linear) {
  return torch::stable::matmul(torch::stable::view(rows, {linear.rows, linear.inputs}),
                               torch::stable::transpose(columns, 0, 1));
}

/// On the CPU, the product is PyTorch's, and bias and GELU are added in one pass.
Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias, bool use_tanh) {
  const char* op = "linear_gelu";
  const Linear linear = check_linear(op, x, weight, bias);
  check_size(op, {"x", x});
  check_size(op, {"weight", weight});
  check_size(op, "the result", linear.rows * linear.outputs);
  Tensor y = torch::stable::new_empty(x, linear.shape);
  if (y.numel() == 0) return y;
  const Tensor rows = contiguous_of(x), columns = contiguous_of(weight), added = contiguous_of(bias);
  const Tensor product = x.is_cpu() ? multiply(rows, columns, linear) : y;
  const WorkbookLinearGelu task = {use_tanh,
                                   linear.type,
                                   static_cast<int>(linear.rows),
                                   static_cast<int>(linear.inputs),
                                   static_cast<int>(linear.outputs),
                                   rows.data_ptr(),
                                   columns.data_ptr(),
                                   added.data_ptr(),
                                   y.data_ptr()};
  const void* in[] = {product.data_ptr(), added.data_ptr()};
  void* out[] = {y.data_ptr()};
  run_on(
      op, y, y.numel(), kGrain,
      [&](int begin, int end) {
        workbook_elementwise_cpu(use_tanh ? kBiasGeluTanh : kBiasGelu, linear.type, in, out, task.outputs,
                                 begin, end);
      },
      [&](void* stream) { return workbook_linear_gelu_cuda(&task, stream); });
  return y;
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(workbook_ops, m) {
  m.def("linear_gelu(Tensor x, Tensor weight, Tensor bias, bool tanh=False) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { m.impl("linear_gelu", TORCH_BOX(&linear_gelu)); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { m.impl("linear_gelu", TORCH_BOX(&linear_gelu)); }
