/// \file
/// For the operators as PyTorch sees them: checks of inputs, memory of results, and where the C layer is
/// called.
#pragma once
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "interface.hpp"

// torch::stable is hidden from other libraries, and so are structs of its tensors.
#pragma GCC visibility push(hidden)

namespace workbook_ops {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

constexpr std::int64_t kGrain = 16384;  // elements per task of a CPU thread: about 10 us of work
constexpr std::int64_t kMostElements = INT32_MAX;

// --- Checks ---

struct Input {
  const char* name;
  const Tensor& tensor;
};
using Inputs = std::initializer_list<Input>;

struct Shape {
  const Tensor& tensor;
};
struct Place {
  const Tensor& tensor;
};

inline std::string text_of(const char* text) { return text; }
inline std::string text_of(std::int64_t number) { return std::to_string(number); }
inline std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}
inline std::string text_of(Shape shape) {
  std::string text = "[";
  for (std::int64_t i = 0; i < shape.tensor.dim(); ++i)
    text += (i ? ", " : "") + std::to_string(shape.tensor.size(i));
  return text + "]";
}
inline std::string text_of(Place place) {
  return place.tensor.is_cpu() ? "cpu" : "cuda:" + std::to_string(place.tensor.get_device_index());
}

/// Throws what becomes a RuntimeError in Python: "add_relu: " and the parts. No streams of the C++ library:
/// they end the process where this library has its own copy of them, as with a compiler that links it
/// statically.
template <class... Parts>
[[noreturn]] void refuse(const char* op, const Parts&... parts) {
  throw std::runtime_error(((std::string(op) + ": ") + ... + text_of(parts)));
}

inline int type_of(const char* op, const Input& input, bool float64 = true) {
  switch (input.tensor.scalar_type()) {
    case ScalarType::Double:
      if (float64) return kFloat64;
      break;
    case ScalarType::Float:
      return kFloat32;
    case ScalarType::Half:
      return kFloat16;
    case ScalarType::BFloat16:
      return kBFloat16;
    default:
      break;
  }
  refuse(op, input.name, " must be ", float64 ? "float64, " : "", "float32, float16 or bfloat16, not ",
         torch::headeronly::toString(input.tensor.scalar_type()));
}

inline void check_same_type_and_device(const char* op, const Input& a, const Input& b) {
  if (a.tensor.scalar_type() != b.tensor.scalar_type())
    refuse(op, a.name, " and ", b.name, " must have the same type, but are ",
           torch::headeronly::toString(a.tensor.scalar_type()), " and ",
           torch::headeronly::toString(b.tensor.scalar_type()), ": convert one of them with .to()");
  if (a.tensor.device() != b.tensor.device())
    refuse(op, a.name, " and ", b.name, " must be on the same device, but are on ", Place{a.tensor}, " and ",
           Place{b.tensor});
}

inline void check_size(const char* op, const char* name, std::int64_t elements) {
  if (elements > kMostElements)
    refuse(op, name, " has ", elements, " elements; ", kMostElements, " is the most: split it");
}
inline void check_size(const char* op, const Input& input) {
  check_size(op, input.name, input.tensor.numel());
}

/// Returns the type that all inputs have.
inline int check_alike(const char* op, Inputs inputs, bool float64 = true) {
  const Input& first = *inputs.begin();
  const int type = type_of(op, first, float64);
  for (const Input& other : inputs) {
    check_same_type_and_device(op, first, other);
    if (!first.tensor.sizes().equals(other.tensor.sizes()))
      refuse(op, first.name, " and ", other.name, " must have the same shape, but are ", Shape{first.tensor},
             " and ", Shape{other.tensor}, "; nothing is broadcast: expand one of them first");
  }
  check_size(op, first);
  return type;
}

// --- Memory ---

/// Memory for a result as PyTorch's empty_like() gives it, with elements of `type`. PyTorch's own is called
/// where it has to choose the strides: by way of the dispatcher, which finds each operator by its name, it
/// takes 0.7 us longer (a third of a call of gelu() on a CPU).
inline Tensor new_like(const Tensor& t, ScalarType type) {
  using torch::stable::detail::from;
  if (t.is_contiguous()) {
    std::int32_t on = 0;
    AtenTensorHandle made = nullptr;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(t.get(), &on));
    const auto type_number = torch::stable::detail::to<std::int32_t>(from(type));
    TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(t.dim(), t.sizes().data(), t.strides().data(),
                                                    type_number, on, t.get_device_index(), &made));
    return Tensor(made);
  }
  const StableIValue none = from(std::nullopt);
  std::array<StableIValue, 6> stack = {from(t), from(std::optional(type)), none, none, none, none};
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("aten::empty_like", "", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}
inline Tensor new_like(const Tensor& t) { return new_like(t, t.scalar_type()); }

/// `t`, copied unless it is contiguous. PyTorch's own is a call by way of its dispatcher, which finds each
/// operator by its name, even if nothing is to be done.
inline Tensor contiguous_of(const Tensor& t) { return t.is_contiguous() ? t : torch::stable::contiguous(t); }

/// `t` with the strides of `result`, copied if it has others. Loops then run over memory in one order, in
/// whatever order the dimensions are.
inline Tensor like(const Tensor& t, const Tensor& result) {
  if (t.strides().equals(result.strides())) return t;
  Tensor copy = new_like(result, t.scalar_type());
  torch::stable::copy_(copy, t);
  return copy;
}

/// A result that is computed row by row: `rows` is contiguous, `result` has the strides that empty_like()
/// gives for the input. They are one tensor unless the strides differ.
struct RowResult {
  Tensor result, rows;

  RowResult(const Tensor& input, const Tensor& input_rows)
      : RowResult(input, input_rows, input.scalar_type()) {}
  RowResult(const Tensor& input, const Tensor& input_rows, ScalarType type)
      : result(new_like(input, type)), rows(result.is_contiguous() ? result : new_like(input_rows, type)) {}
  /// To be called when `rows` has been computed.
  Tensor finished() {
    if (!result.is_contiguous()) torch::stable::copy_(result, rows);
    return result;
  }
};

// --- Running ---

#ifdef WORKBOOK_OPS_CUDA
inline void* current_stream(const char* op, const Tensor& t) {
  void* stream = nullptr;
  if (aoti_torch_get_current_cuda_stream(t.get_device_index(), &stream) != 0)
    refuse(op, "PyTorch names no current stream for ", Place{t});
  return stream;
}
#else
[[noreturn]] inline void refuse_cuda(const char* op) {
  refuse(op,
         "this workbook_ops was built without its GPU side: install the CUDA Toolkit (nvcc) and a PyTorch "
         "with CUDA, then install workbook_ops again");
}
#endif

/// Runs an operator where `result` is: on the CPU cpu(begin, end) for parts of the range [0, n), at least
/// `grain` long, on several threads; on a GPU cuda(stream), a function of the C layer.
template <class Cpu, class Cuda>
void run_on(const char* op, const Tensor& result, std::int64_t n, std::int64_t grain, Cpu cpu, Cuda cuda) {
  if (result.is_cpu()) {
    torch::stable::parallel_for(0, n, grain, [&](std::int64_t begin, std::int64_t end) {
      cpu(static_cast<int>(begin), static_cast<int>(end));
    });
    return;
  }
#ifdef WORKBOOK_OPS_CUDA
  const torch::stable::accelerator::DeviceGuard guard(result.get_device_index());
  if (cuda(current_stream(op, result))) refuse(op, workbook_error());
#else
  (void)cuda;
  refuse_cuda(op);
#endif
}

/// What cuda() returns for the GPU where `tensor` is.
template <class Cuda>
std::invoke_result_t<Cuda> on_gpu(const char* op, const Tensor& tensor, Cuda cuda) {
#ifdef WORKBOOK_OPS_CUDA
  (void)op;
  const torch::stable::accelerator::DeviceGuard guard(tensor.get_device_index());
  return cuda();
#else
  (void)tensor, (void)cuda;
  refuse_cuda(op);
#endif
}

/// Parts of the rows that leave a partial sum of each column: on a GPU what cuda() returns. On the CPU they
/// do not depend on the number of threads, so that neither do the sums; a part has eight rows or more,
/// because its sums are written and read.
template <class Cuda>
int parts_of(const char* op, const Tensor& x, std::int64_t rows, std::int64_t columns, Cuda cuda) {
  if (x.is_cpu()) {
    const std::int64_t most = std::min<std::int64_t>((rows + 7) / 8, 64);
    return static_cast<int>(std::clamp<std::int64_t>(rows * columns / (4 * kGrain), 1, most));
  }
  return on_gpu(op, x, cuda);
}

}  // namespace workbook_ops

#pragma GCC visibility pop
