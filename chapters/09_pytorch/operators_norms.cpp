/// \file
/// The operators that normalise rows, as PyTorch sees them (see operators.cpp). A row has the last dimensions
/// of x, those that weight has.
#include "checks.hpp"

using namespace workbook_ops;

namespace {

struct Rows {
  int type, rows, columns;
};

/// Checks x, weight and, where there is one, bias.
Rows check_norm(const char* op, const Input& x, const Tensor& weight, const Tensor* bias) {
  const int type = type_of(op, x, false);
  check_same_type_and_device(op, x, {"weight", weight});
  const std::int64_t dims = weight.dim(), skipped = x.tensor.dim() - dims;
  bool fits = dims > 0 && skipped >= 0;
  for (std::int64_t i = 0; fits && i < dims; ++i) fits = weight.size(i) == x.tensor.size(skipped + i);
  if (!fits)
    refuse(op, "weight must have the shape of the last dimensions of ", x.name, ", at least one, but is ",
           Shape{weight}, " for ", Shape{x.tensor});
  if (bias) check_alike(op, {{"weight", weight}, {"bias", *bias}}, false);
  check_size(op, x);
  const std::int64_t columns = weight.numel();
  const std::int64_t rows = columns == 0 ? 0 : x.tensor.numel() / columns;
  return {type, static_cast<int>(rows), static_cast<int>(columns)};
}

/// A normalised result is contiguous, whatever the input is, as PyTorch's are.
Tensor contiguous_like(const Tensor& x) {
  return x.is_contiguous() ? new_like(x) : torch::stable::new_empty(x, x.sizes());
}

void run_norm(const char* op, const WorkbookNorm& task, const Tensor& y) {
  if (task.rows == 0) return;
  run_on(
      op, y, task.rows, std::max<std::int64_t>(1, kGrain / task.columns),
      [&](int begin, int end) { workbook_norm_cpu(&task, begin, end); },
      [&](void* stream) { return workbook_norm_cuda(&task, stream); });
}

Tensor layer_norm(const char* op, int kind, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  double eps) {
  const Rows rows = check_norm(op, {"x", x}, weight, &bias);
  const Tensor from = contiguous_of(x), scale = contiguous_of(weight), shift = contiguous_of(bias);
  Tensor y = contiguous_like(x);
  run_norm(op,
           {kind, rows.type, rows.rows, rows.columns, static_cast<float>(eps), from.data_ptr(), nullptr,
            scale.data_ptr(), shift.data_ptr(), y.data_ptr(), nullptr},
           y);
  return y;
}

/// dx, dweight and dbias; the last only where `has_dbias`.
std::vector<Tensor> norm_backward(const char* op, int kind, const Tensor& grad, const Tensor* grad_sum,
                                  const Input& x, const Tensor& weight, const Tensor* bias, bool has_dbias,
                                  double eps) {
  const Rows rows = check_norm(op, x, weight, bias);
  check_alike(op, {x, {"grad", grad}}, false);
  if (grad_sum) check_alike(op, {x, {"grad_sum", *grad_sum}}, false);
  std::vector<Tensor> results = {contiguous_like(x.tensor), contiguous_like(weight)};
  if (has_dbias) results.push_back(contiguous_like(weight));
  if (rows.rows == 0) {
    for (std::size_t i = 1; i < results.size(); ++i) torch::stable::zero_(results[i]);
    return results;
  }
  // Copies that a call needs live until it has been made.
  std::vector<Tensor> copies;
  const auto pointer = [&](const Tensor* tensor) -> const void* {
    if (!tensor) return nullptr;
    copies.push_back(contiguous_of(*tensor));
    return copies.back().data_ptr();
  };
  Tensor moments =
      torch::stable::new_empty(x.tensor, {x.tensor.is_cpu() ? 0 : rows.rows, 2}, ScalarType::Float);
  WorkbookNormBackward task = {kind,
                               rows.type,
                               rows.rows,
                               rows.columns,
                               0,
                               static_cast<float>(eps),
                               pointer(&grad),
                               pointer(grad_sum),
                               pointer(&x.tensor),
                               pointer(&weight),
                               pointer(bias),
                               results[0].data_ptr(),
                               results[1].data_ptr(),
                               has_dbias ? results[2].data_ptr() : nullptr,
                               nullptr,
                               moments.data_ptr()};
  task.parts =
      parts_of(op, x.tensor, rows.rows, rows.columns, [&] { return workbook_norm_parts_cuda(&task); });
  Tensor partial = torch::stable::new_empty(x.tensor, {task.parts, 2, rows.columns}, ScalarType::Float);
  task.partial = partial.data_ptr();
  run_on(
      op, x.tensor, task.parts, 1,
      [&](int begin, int end) {
        for (; begin < end; ++begin) workbook_norm_backward_part_cpu(&task, begin);
      },
      [&](void* stream) { return workbook_norm_backward_cuda(&task, stream); });
  if (x.tensor.is_cpu()) workbook_norm_backward_sum_cpu(&task);
  return results;
}

// --- The operators ---

Tensor layer_norm_relu(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm("layer_norm_relu", kLayerNormRelu, x, weight, bias, eps);
}
std::tuple<Tensor, Tensor, Tensor> layer_norm_relu_backward(const Tensor& grad, const Tensor& x,
                                                            const Tensor& weight, const Tensor& bias,
                                                            double eps) {
  const auto results = norm_backward("layer_norm_relu_backward", kLayerNormRelu, grad, nullptr, {"x", x},
                                     weight, &bias, true, eps);
  return {results[0], results[1], results[2]};
}

Tensor relu_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm("relu_layer_norm", kReluLayerNorm, x, weight, bias, eps);
}
std::tuple<Tensor, Tensor, Tensor> relu_layer_norm_backward(const Tensor& grad, const Tensor& x,
                                                            const Tensor& weight, double eps) {
  const auto results = norm_backward("relu_layer_norm_backward", kReluLayerNorm, grad, nullptr, {"x", x},
                                     weight, nullptr, true, eps);
  return {results[0], results[1], results[2]};
}

std::tuple<Tensor, Tensor> residual_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                                             double eps) {
  const char* op = "residual_rms_norm";
  const Rows rows = check_norm(op, {"x", x}, weight, nullptr);
  check_alike(op, {{"x", x}, {"residual", residual}}, false);
  const Tensor from = contiguous_of(x), added = contiguous_of(residual), scale = contiguous_of(weight);
  RowResult sum(x, from);
  Tensor y = contiguous_like(x);
  run_norm(op,
           {kResidualRmsNorm, rows.type, rows.rows, rows.columns, static_cast<float>(eps), from.data_ptr(),
            added.data_ptr(), scale.data_ptr(), nullptr, y.data_ptr(), sum.rows.data_ptr()},
           y);
  return {y, sum.finished()};
}
std::tuple<Tensor, Tensor> residual_rms_norm_backward(const Tensor& grad,
                                                      const std::optional<Tensor>& grad_sum,
                                                      const Tensor& sum, const Tensor& weight, double eps) {
  const auto results =
      norm_backward("residual_rms_norm_backward", kResidualRmsNorm, grad, grad_sum ? &*grad_sum : nullptr,
                    {"sum", sum}, weight, nullptr, false, eps);
  return {results[0], results[1]};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(workbook_ops, m) {
  m.def("layer_norm_relu(Tensor x, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor");
  m.def(
      "layer_norm_relu_backward(Tensor grad, Tensor x, Tensor weight, Tensor bias, float eps=1e-05) "
      "-> (Tensor, Tensor, Tensor)");
  m.def("relu_layer_norm(Tensor x, Tensor weight, Tensor bias, float eps=1e-05) -> Tensor");
  m.def(
      "relu_layer_norm_backward(Tensor grad, Tensor x, Tensor weight, float eps=1e-05) "
      "-> (Tensor, Tensor, Tensor)");
  m.def("residual_rms_norm(Tensor x, Tensor residual, Tensor weight, float eps=1e-05) -> (Tensor, Tensor)");
  m.def(
      "residual_rms_norm_backward(Tensor grad, Tensor? grad_sum, Tensor sum, Tensor weight, "
      "float eps=1e-05) -> (Tensor, Tensor)");
}

namespace {
void implement(torch::stable::detail::StableLibrary& m) {
  m.impl("layer_norm_relu", TORCH_BOX(&layer_norm_relu));
  m.impl("layer_norm_relu_backward", TORCH_BOX(&layer_norm_relu_backward));
  m.impl("relu_layer_norm", TORCH_BOX(&relu_layer_norm));
  m.impl("relu_layer_norm_backward", TORCH_BOX(&relu_layer_norm_backward));
  m.impl("residual_rms_norm", TORCH_BOX(&residual_rms_norm));
  m.impl("residual_rms_norm_backward", TORCH_BOX(&residual_rms_norm_backward));
}
}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { implement(m); }
