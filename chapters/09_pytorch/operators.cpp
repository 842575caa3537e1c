/// \file
/// The operators as PyTorch sees them, through its stable C++ interface: one binary runs on PyTorch 2.10 and
/// newer. Here inputs are checked and results allocated; the C layer (interface.hpp) computes.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "interface.hpp"

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr std::int64_t kGrain = 16384;  // elements per task of a CPU thread: about 10 us of work
constexpr std::int64_t kMostElements = INT32_MAX;

// --- Checks ---

struct Input {
  const char* name;
  const Tensor& tensor;
};
using Inputs = std::initializer_list<Input>;

/// Throws what becomes a RuntimeError in Python: "add_relu: " and the parts.
template <class... Parts>
[[noreturn]] void refuse(const char* op, const Parts&... parts) {
  std::ostringstream text;
  text << op << ": ";
  (text << ... << parts);
  throw std::runtime_error(text.str());
}

struct Shape {
  const Tensor& tensor;
};
std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << "[";
  for (std::int64_t i = 0; i < shape.tensor.dim(); ++i) out << (i ? ", " : "") << shape.tensor.size(i);
  return out << "]";
}

struct Place {
  const Tensor& tensor;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  if (place.tensor.is_cpu()) return out << "cpu";
  return out << "cuda:" << place.tensor.get_device_index();
}

int type_of(const char* op, const Input& input) {
  switch (input.tensor.scalar_type()) {
    case ScalarType::Double:
      return kFloat64;
    case ScalarType::Float:
      return kFloat32;
    case ScalarType::Half:
      return kFloat16;
    case ScalarType::BFloat16:
      return kBFloat16;
    default:
      refuse(op, input.name, " must be float64, float32, float16 or bfloat16, not ",
             torch::headeronly::toString(input.tensor.scalar_type()));
  }
}

void check_same_type_and_device(const char* op, const Input& a, const Input& b) {
  if (a.tensor.scalar_type() != b.tensor.scalar_type())
    refuse(op, a.name, " and ", b.name, " must have the same type, but are ",
           torch::headeronly::toString(a.tensor.scalar_type()), " and ",
           torch::headeronly::toString(b.tensor.scalar_type()), ": convert one of them with .to()");
  if (a.tensor.device() != b.tensor.device())
    refuse(op, a.name, " and ", b.name, " must be on the same device, but are on ", Place{a.tensor}, " and ",
           Place{b.tensor});
}

void check_size(const char* op, const Input& input) {
  if (input.tensor.numel() > kMostElements)
    refuse(op, input.name, " has ", input.tensor.numel(), " elements; ", kMostElements,
           " is the most: split it");
}

/// Returns the type that all inputs have.
int check_alike(const char* op, Inputs inputs) {
  const Input& first = *inputs.begin();
  const int type = type_of(op, first);
  for (const Input& other : inputs) {
    check_same_type_and_device(op, first, other);
    if (!first.tensor.sizes().equals(other.tensor.sizes()))
      refuse(op, first.name, " and ", other.name, " must have the same shape, but are ", Shape{first.tensor},
             " and ", Shape{other.tensor}, "; nothing is broadcast: expand one of them first");
  }
  check_size(op, first);
  return type;
}

/// The same for x, its gradient where there is one, and a bias over the last dimension.
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

// --- Memory ---

/// `t` with the strides of `result`, copied if it has others. Loops then run over memory in one order, in
/// whatever order the dimensions are.
Tensor like(const Tensor& t, const Tensor& result) {
  if (t.strides().equals(result.strides())) return t;
  Tensor copy = torch::stable::empty_like(result);
  torch::stable::copy_(copy, t);
  return copy;
}

/// A result that is computed row by row: `rows` is contiguous, `result` has the strides that empty_like()
/// gives for the input. They are one tensor unless the strides differ.
struct RowResult {
  Tensor result, rows;

  RowResult(const Tensor& input, const Tensor& input_rows)
      : result(torch::stable::empty_like(input)),
        rows(result.is_contiguous() ? result : torch::stable::empty_like(input_rows)) {}
  /// To be called when `rows` has been computed.
  Tensor finished() {
    if (!result.is_contiguous()) torch::stable::copy_(result, rows);
    return result;
  }
};

// --- Running ---

#ifdef WORKBOOK_OPS_CUDA
void* current_stream(const char* op, const Tensor& t) {
  void* stream = nullptr;
  if (aoti_torch_get_current_cuda_stream(t.get_device_index(), &stream) != 0)
    refuse(op, "PyTorch names no current stream for ", Place{t});
  return stream;
}
#else
[[noreturn]] void refuse_cuda(const char* op) {
  refuse(op,
         "this workbook_ops was built without its GPU side: install the CUDA Toolkit (nvcc) and a PyTorch "
         "with CUDA, then install workbook_ops again");
}
#endif

void run(const char* op, int formula, int type, const void* const* in, void* const* out, const Tensor& result,
         std::int64_t period) {
  const std::int64_t n = result.numel();
  if (n == 0) return;  // a grid of 0 blocks is an error
  const int repeat = static_cast<int>(period);
  if (result.is_cpu()) {
    torch::stable::parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) {
      workbook_elementwise_cpu(formula, type, in, out, repeat, static_cast<int>(begin),
                               static_cast<int>(end));
    });
    return;
  }
#ifdef WORKBOOK_OPS_CUDA
  const torch::stable::accelerator::DeviceGuard guard(result.get_device_index());
  if (workbook_elementwise_cuda(formula, type, in, out, repeat, static_cast<int>(n),
                                current_stream(op, result)))
    refuse(op, workbook_error());
#else
  refuse_cuda(op);
#endif
}

/// `count` results of a formula whose inputs all have one shape. They have the strides that empty_like()
/// gives for input number `layout`, as the results of PyTorch's own operators have.
std::vector<Tensor> elementwise(const char* op, int formula, Inputs inputs, int count = 1, int layout = 0) {
  const int type = check_alike(op, inputs);
  std::vector<Tensor> results, copies;
  void* out[2] = {};
  for (int k = 0; k < count; ++k) {
    results.push_back(torch::stable::empty_like(inputs.begin()[layout].tensor));
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
  const Tensor rows = torch::stable::contiguous(x), added = torch::stable::contiguous(bias);
  RowResult y(x, rows);
  const void* in[] = {rows.data_ptr(), added.data_ptr()};
  void* out[] = {y.rows.data_ptr()};
  run(op, use_tanh ? kBiasGeluTanh : kBiasGelu, type, in, out, y.rows, added.numel());
  return y.finished();
}

/// Parts of the rows that leave a partial sum each. On the CPU they do not depend on the number of threads,
/// so that neither do the sums.
int parts_of(const char* op, const Tensor& x, std::int64_t rows, std::int64_t columns) {
  if (x.is_cpu()) {
    const std::int64_t most = std::min<std::int64_t>(rows, 64);
    return static_cast<int>(std::clamp<std::int64_t>(rows * columns / (4 * kGrain), 1, most));
  }
#ifdef WORKBOOK_OPS_CUDA
  (void)op;
  const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
  return workbook_bias_gelu_parts_cuda(static_cast<int>(rows), static_cast<int>(columns));
#else
  refuse_cuda(op);
#endif
}

void run(const char* op, const WorkbookBiasGelu& task, const Tensor& x) {
  if (x.is_cpu()) {
    torch::stable::parallel_for(0, task.parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        workbook_bias_gelu_part_cpu(&task, static_cast<int>(part));
    });
    return workbook_bias_gelu_sum_cpu(&task);
  }
#ifdef WORKBOOK_OPS_CUDA
  const torch::stable::accelerator::DeviceGuard guard(x.get_device_index());
  if (workbook_bias_gelu_backward_cuda(&task, current_stream(op, x))) refuse(op, workbook_error());
#else
  refuse_cuda(op);
#endif
}

std::tuple<Tensor, Tensor> bias_gelu_backward(const Tensor& grad, const Tensor& x, const Tensor& bias,
                                              bool use_tanh) {
  const char* op = "bias_gelu_backward";
  const int type = check_bias(op, {"x", x}, {"bias", bias});
  check_alike(op, {{"x", x}, {"grad", grad}});
  const Tensor added = torch::stable::contiguous(bias);
  Tensor dbias = torch::stable::empty_like(added);
  if (x.numel() == 0) {  // no row: the sums are 0
    torch::stable::zero_(dbias);
    return {torch::stable::empty_like(x), dbias};
  }
  const Tensor x_rows = torch::stable::contiguous(x), grad_rows = torch::stable::contiguous(grad);
  RowResult dx(x, x_rows);
  const std::int64_t columns = added.numel(), rows = x.numel() / columns;
  const int parts = parts_of(op, x, rows, columns);
  Tensor partial = torch::stable::new_empty(x, {parts, columns},
                                            type == kFloat64 ? ScalarType::Double : ScalarType::Float);
  run(op,
      {use_tanh, type, static_cast<int>(rows), static_cast<int>(columns), parts, grad_rows.data_ptr(),
       x_rows.data_ptr(), added.data_ptr(), dx.rows.data_ptr(), dbias.data_ptr(), partial.data_ptr()},
      x);
  return {dx.finished(), dbias};
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
}
}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { implement(m); }
