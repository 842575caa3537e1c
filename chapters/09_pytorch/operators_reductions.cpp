/// \file
/// The operators that reduce one dimension, as PyTorch sees them (see operators.cpp).
#include <limits>

#include "checks.hpp"

using namespace workbook_ops;

namespace {

/// x as outer x size x inner, where `size` is the dimension that is reduced, and the shape without it.
struct Lines {
  int type;
  std::int64_t outer = 1, size = 1, inner = 1;
  std::vector<std::int64_t> shape = {};
};

/// A number has one dimension of one element, as in PyTorch.
Lines lines_of(const char* op, const Tensor& x, std::int64_t dim) {
  Lines lines = {type_of(op, {"x", x})};
  check_size(op, {"x", x});
  const std::int64_t dims = x.dim(), most = std::max<std::int64_t>(dims, 1) - 1;
  if (dim < -most - 1 || dim > most) refuse(op, "dim must be from ", -most - 1, " to ", most, ", not ", dim);
  if (dim < 0) dim += most + 1;
  for (std::int64_t i = 0; i < dims; ++i) {
    (i < dim ? lines.outer : i == dim ? lines.size : lines.inner) *= x.size(i);
    if (i != dim) lines.shape.push_back(x.size(i));
  }
  return lines;
}

/// Parts of a line on the CPU: they do not depend on the number of threads, so that neither do the sums.
/// Enough lines are shared by threads as they are.
int cpu_parts(const Lines& lines) {
  const std::int64_t wanted = 64 / (lines.outer * ((lines.inner - 1) / 256 + 1));
  const std::int64_t most = std::min((lines.size + 7) / 8, lines.size * lines.inner / (4 * kGrain));
  return static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, most)));
}

int parts_of(const char* op, const Tensor& x, const Lines& lines, const WorkbookReduction& task) {
  if (x.is_cpu()) return cpu_parts(lines);
  return on_gpu(op, x, [&] { return workbook_reduction_parts_cuda(&task); });
}

/// `of_none` is the result where a line has no elements.
Tensor reduce(const char* op, int kind, const Tensor& x, std::int64_t dim, double of_none) {
  const Lines lines = lines_of(op, x, dim);
  Tensor out = torch::stable::new_empty(x, lines.shape);
  if (x.numel() == 0) return torch::stable::fill_(out, of_none);
  const Tensor from = contiguous_of(x);
  WorkbookReduction task = {kind,
                            lines.type,
                            static_cast<int>(lines.outer),
                            static_cast<int>(lines.size),
                            static_cast<int>(lines.inner),
                            1,
                            from.data_ptr(),
                            out.data_ptr(),
                            nullptr};
  task.parts = parts_of(op, x, lines, task);
  const std::int64_t sums = task.parts * lines.outer * lines.inner;
  Tensor partial = torch::stable::new_empty(x, {task.parts == 1 ? 0 : sums},
                                            lines.type == kFloat64 ? ScalarType::Double : ScalarType::Float);
  task.partial = partial.data_ptr();
  run_on(
      op, x, sums, std::max<std::int64_t>(1, kGrain * task.parts / lines.size),
      [&](int begin, int end) { workbook_reduction_cpu(&task, begin, end); },
      [&](void* stream) { return workbook_reduction_cuda(&task, stream); });
  if (x.is_cpu()) workbook_reduction_sum_cpu(&task);
  return out;
}

Tensor reduce_backward(const char* op, int kind, const Tensor& grad, const Tensor& x, std::int64_t dim) {
  const Lines lines = lines_of(op, x, dim);
  check_same_type_and_device(op, {"x", x}, {"grad", grad});
  if (!grad.sizes().equals(lines.shape))
    refuse(op, "grad must have the shape of the result, that of x without dimension ", dim, ", but is ",
           Shape{grad}, " for ", Shape{x});
  if (x.numel() == 0) return new_like(x);
  const Tensor from = contiguous_of(x), grads = contiguous_of(grad);
  RowResult dx(x, from);
  const WorkbookReductionBackward task = {kind,
                                          lines.type,
                                          static_cast<int>(lines.outer),
                                          static_cast<int>(lines.size),
                                          static_cast<int>(lines.inner),
                                          grads.data_ptr(),
                                          from.data_ptr(),
                                          dx.rows.data_ptr()};
  run_on(
      op, x, x.numel(), kGrain,
      [&](int begin, int end) { workbook_reduction_backward_cpu(&task, begin, end); },
      [&](void* stream) { return workbook_reduction_backward_cuda(&task, stream); });
  return dx.finished();
}

// --- The operators ---

Tensor sum_of_squares(const Tensor& x, std::int64_t dim) {
  return reduce("sum_of_squares", kSumOfSquares, x, dim, 0);
}
Tensor sum_of_squares_backward(const Tensor& grad, const Tensor& x, std::int64_t dim) {
  return reduce_backward("sum_of_squares_backward", kSumOfSquares, grad, x, dim);
}

Tensor mean_abs(const Tensor& x, std::int64_t dim) {
  return reduce("mean_abs", kMeanAbs, x, dim, std::numeric_limits<double>::quiet_NaN());
}
Tensor mean_abs_backward(const Tensor& grad, const Tensor& x, std::int64_t dim) {
  return reduce_backward("mean_abs_backward", kMeanAbs, grad, x, dim);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(workbook_ops, m) {
  m.def("sum_of_squares(Tensor x, int dim) -> Tensor");
  m.def("sum_of_squares_backward(Tensor grad, Tensor x, int dim) -> Tensor");
  m.def("mean_abs(Tensor x, int dim) -> Tensor");
  m.def("mean_abs_backward(Tensor grad, Tensor x, int dim) -> Tensor");
}

namespace {
void implement(torch::stable::detail::StableLibrary& m) {
  m.impl("sum_of_squares", TORCH_BOX(&sum_of_squares));
  m.impl("sum_of_squares_backward", TORCH_BOX(&sum_of_squares_backward));
  m.impl("mean_abs", TORCH_BOX(&mean_abs));
  m.impl("mean_abs_backward", TORCH_BOX(&mean_abs_backward));
}
}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { implement(m); }
