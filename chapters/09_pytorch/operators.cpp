/// \file
/// The elementwise operators as PyTorch sees them, through its stable C++ interface: one binary runs on
/// PyTorch 2.10 and newer. Here inputs are checked and results allocated; the C layer (interface.hpp)
/// computes.
#include "checks.hpp"

using namespace workbook_ops;

namespace {

/// Checks x and a bias over its last dimension. Returns their type.
int check_bias(const char* op, const Input& x, const Input& bias) {
  const int type = type_of(op, x);
  check_same_type_and_device(op, x, bias);
  const std::int64_t dim = x.tensor.dim();
  if (dim == 0) refuse(op, "x must have at least one dimension, which bias is added along");
  if (bias.tensor.dim() != 1 || bias.tensor.size(0) != x.tensor.size(dim - 1))
    refuse(op, "bias must have the shape [", x.tensor.size(dim - 1),
           "], that of the last dimension of x, but is ", Shape{bias.tensor});
  check_size(op, x);
  return type;
}

void run(const char* op, int formula, int type, const void* const* in, void* const* out, const Tensor& result,
         std::int64_t period) {
  const std::int64_t n = result.numel();
  if (n == 0) return;  // a grid of 0 blocks is an error
  const int repeat = static_cast<int>(period);
  run_on(
      op, result, n, kGrain,
      [&](int begin, int end) { workbook_elementwise_cpu(formula, type, in, out, repeat, begin, end); },
      [&](void* stream) {
        return workbook_elementwise_cuda(formula, type, in, out, repeat, static_cast<int>(n), stream);
      });
}

/// `count` results of a formula whose inputs all have one shape. They have the strides that empty_like()
/// gives for input number `layout`, as the results of PyTorch's own operators have.
std::vector<Tensor> elementwise(const char* op, int formula, Inputs inputs, int count = 1, int layout = 0) {
  const int type = check_alike(op, inputs);
  std::vector<Tensor> results, copies;
  void* out[2] = {};
  for (int k = 0; k < count; ++k) {
    results.push_back(new_like(inputs.begin()[layout].tensor));
    out[k] = results.back().data_ptr();
  }
  const void* in[3] = {};
  for (const Input& input : inputs) {
    copies.push_back(like(input.tensor, results[0]));
    in[copies.size() - 1] = copies.back().data_ptr();
  }
  run(op, formula, type, in, out, results[0], 1);
  return results;
}

// --- The operators ---

Tensor multiply_add(const Tensor& q, const Tensor& k, const Tensor& v) {
  return elementwise("multiply_add", kMultiplyAdd, {{"q", q}, {"k", k}, {"v", v}})[0];
}
std::tuple<Tensor, Tensor> multiply_add_backward(const Tensor& grad, const Tensor& q, const Tensor& k) {
  auto results =
      elementwise("multiply_add_backward", kMultiplyAddBackward, {{"grad", grad}, {"q", q}, {"k", k}}, 2, 1);
  return {results[0], results[1]};
}

Tensor add_mul_exp(const Tensor& x, const Tensor& y) {
  return elementwise("add_mul_exp", kAddMulExp, {{"x", x}, {"y", y}})[0];
}
Tensor add_mul_exp_backward(const Tensor& grad, const Tensor& result) {
  return elementwise("add_mul_exp_backward", kAddMulExpBackward, {{"grad", grad}, {"result", result}}, 1,
                     1)[0];
}

Tensor add_relu(const Tensor& a, const Tensor& b) {
  return elementwise("add_relu", kAddRelu, {{"a", a}, {"b", b}})[0];
}
Tensor add_relu_backward(const Tensor& grad, const Tensor& result) {
  return elementwise("add_relu_backward", kAddReluBackward, {{"grad", grad}, {"result", result}}, 1, 1)[0];
}

Tensor mul_tanh(const Tensor& a, const Tensor& b) {
  return elementwise("mul_tanh", kMulTanh, {{"a", a}, {"b", b}})[0];
}
std::tuple<Tensor, Tensor> mul_tanh_backward(const Tensor& grad, const Tensor& a, const Tensor& b) {
  auto results =
      elementwise("mul_tanh_backward", kMulTanhBackward, {{"grad", grad}, {"a", a}, {"b", b}}, 2, 1);
  return {results[0], results[1]};
}

Tensor gelu(const Tensor& x, bool use_tanh) {
  return elementwise("gelu", use_tanh ? kGeluTanh : kGelu, {{"x", x}})[0];
}
Tensor gelu_backward(const Tensor& grad, const Tensor& x, bool use_tanh) {
  return elementwise("gelu_backward", use_tanh ? kGeluTanhBackward : kGeluBackward,
                     {{"grad", grad}, {"x", x}}, 1, 1)[0];
}

Tensor bias_gelu(const Tensor& x, const Tensor& bias, bool use_tanh) {
  const char* op = "bias_gelu";
  const int type = check_bias(op, {"x", x}, {"bias", bias});
  const Tensor rows = contiguous_of(x), added = contiguous_of(bias);
  RowResult y(x, rows);
  const void* in[] = {rows.data_ptr(), added.data_ptr()};
  void* out[] = {y.rows.data_ptr()};
  run(op, use_tanh ? kBiasGeluTanh : kBiasGelu, type, in, out, y.rows, added.numel());
  return y.finished();
}

std::tuple<Tensor, Tensor> bias_gelu_backward(const Tensor& grad, const Tensor& x, const Tensor& bias,
                                              bool use_tanh) {
  const char* op = "bias_gelu_backward";
  const int type = check_bias(op, {"x", x}, {"bias", bias});
  check_alike(op, {{"x", x}, {"grad", grad}});
  const Tensor added = contiguous_of(bias);
  Tensor dbias = new_like(added);
  if (x.numel() == 0) {  // no row: the sums are 0
    torch::stable::zero_(dbias);
    return {new_like(x), dbias};
  }
  const Tensor x_rows = contiguous_of(x), grad_rows = contiguous_of(grad);
  RowResult dx(x, x_rows);
  const int columns = static_cast<int>(added.numel()), rows = static_cast<int>(x.numel() / columns);
  const int parts = parts_of(op, x, rows, columns, [&] { return workbook_parts_cuda(type, rows, columns); });
  Tensor partial = torch::stable::new_empty(x, {parts, columns},
                                            type == kFloat64 ? ScalarType::Double : ScalarType::Float);
  const WorkbookBiasGelu task = {use_tanh,
                                 type,
                                 rows,
                                 columns,
                                 parts,
                                 grad_rows.data_ptr(),
                                 x_rows.data_ptr(),
                                 added.data_ptr(),
                                 dx.rows.data_ptr(),
                                 dbias.data_ptr(),
                                 partial.data_ptr()};
  run_on(
      op, x, parts, 1,
      [&](int begin, int end) {
        for (; begin < end; ++begin) workbook_bias_gelu_part_cpu(&task, begin);
      },
      [&](void* stream) { return workbook_bias_gelu_backward_cuda(&task, stream); });
  if (x.is_cpu()) workbook_bias_gelu_sum_cpu(&task);
  return {dx.finished(), dbias};
}

/// Without `grad` the forward pass, with it the backward pass. Which elements are dropped depends on where
/// they are in memory, so both passes take x as it is, or copied to the strides of the result.
Tensor gelu_dropout_of(const char* op, const Tensor* grad, const Tensor& x, const Tensor& seed, double p,
                       bool use_tanh) {
  const int type = type_of(op, {"x", x}, false);
  if (grad) check_alike(op, {{"x", x}, {"grad", *grad}}, false);
  check_size(op, {"x", x});
  if (seed.scalar_type() != ScalarType::Long || seed.numel() != 1)
    refuse(op, "seed must be one int64, but is ", torch::headeronly::toString(seed.scalar_type()), " ",
           Shape{seed});
  if (seed.device() != x.device())
    refuse(op, "x and seed must be on the same device, but are on ", Place{x}, " and ", Place{seed});
  if (!(p >= 0 && p <= 1)) refuse(op, "p must be from 0 to 1, not ", p);
  Tensor result = new_like(x);
  const std::int64_t n = result.numel();
  if (n == 0) return result;
  const Tensor from = like(x, result), grads = grad ? like(*grad, result) : from;
  WorkbookGeluDropout task = {use_tanh,
                              type,
                              static_cast<int>(n),
                              p,
                              static_cast<const unsigned long long*>(seed.data_ptr()),
                              grad ? grads.data_ptr() : nullptr,
                              from.data_ptr(),
                              result.data_ptr(),
                              nullptr};
  run_on(
      op, result, n, kGrain, [&](int begin, int end) { workbook_gelu_dropout_cpu(&task, begin, end); },
      [&](void* stream) {
        Tensor scratch = result;  // is replaced if there is one
        if (const long long floats = workbook_gelu_dropout_scratch(&task)) {
          scratch = torch::stable::new_empty(x, {floats}, ScalarType::Float);
          task.scratch = scratch.data_ptr();
        }
        return workbook_gelu_dropout_cuda(&task, stream);
      });
  return result;
}
Tensor gelu_dropout(const Tensor& x, const Tensor& seed, double p, bool use_tanh) {
  return gelu_dropout_of("gelu_dropout", nullptr, x, seed, p, use_tanh);
}
Tensor gelu_dropout_backward(const Tensor& grad, const Tensor& x, const Tensor& seed, double p,
                             bool use_tanh) {
  return gelu_dropout_of("gelu_dropout_backward", &grad, x, seed, p, use_tanh);
}

}  // namespace

STABLE_TORCH_LIBRARY(workbook_ops, m) {
  m.def("multiply_add(Tensor q, Tensor k, Tensor v) -> Tensor");
  m.def("multiply_add_backward(Tensor grad, Tensor q, Tensor k) -> (Tensor, Tensor)");
  m.def("add_mul_exp(Tensor x, Tensor y) -> Tensor");
  m.def("add_mul_exp_backward(Tensor grad, Tensor result) -> Tensor");
  m.def("add_relu(Tensor a, Tensor b) -> Tensor");
  m.def("add_relu_backward(Tensor grad, Tensor result) -> Tensor");
  m.def("mul_tanh(Tensor a, Tensor b) -> Tensor");
  m.def("mul_tanh_backward(Tensor grad, Tensor a, Tensor b) -> (Tensor, Tensor)");
  m.def("gelu(Tensor x, bool tanh=False) -> Tensor");
  m.def("gelu_backward(Tensor grad, Tensor x, bool tanh=False) -> Tensor");
  m.def("bias_gelu(Tensor x, Tensor bias, bool tanh=False) -> Tensor");
  m.def("bias_gelu_backward(Tensor grad, Tensor x, Tensor bias, bool tanh=False) -> (Tensor, Tensor)");
  m.def("gelu_dropout(Tensor x, Tensor seed, float p, bool tanh=False) -> Tensor");
  m.def("gelu_dropout_backward(Tensor grad, Tensor x, Tensor seed, float p, bool tanh=False) -> Tensor");
}

namespace {
void implement(torch::stable::detail::StableLibrary& m) {
  m.impl("multiply_add", TORCH_BOX(&multiply_add));
  m.impl("multiply_add_backward", TORCH_BOX(&multiply_add_backward));
  m.impl("add_mul_exp", TORCH_BOX(&add_mul_exp));
  m.impl("add_mul_exp_backward", TORCH_BOX(&add_mul_exp_backward));
  m.impl("add_relu", TORCH_BOX(&add_relu));
  m.impl("add_relu_backward", TORCH_BOX(&add_relu_backward));
  m.impl("mul_tanh", TORCH_BOX(&mul_tanh));
  m.impl("mul_tanh_backward", TORCH_BOX(&mul_tanh_backward));
  m.impl("gelu", TORCH_BOX(&gelu));
  m.impl("gelu_backward", TORCH_BOX(&gelu_backward));
  m.impl("bias_gelu", TORCH_BOX(&bias_gelu));
  m.impl("bias_gelu_backward", TORCH_BOX(&bias_gelu_backward));
  m.impl("gelu_dropout", TORCH_BOX(&gelu_dropout));
  m.impl("gelu_dropout_backward", TORCH_BOX(&gelu_dropout_backward));
}
}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { implement(m); }
