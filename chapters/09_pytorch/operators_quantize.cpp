/// \file
/// Quantisation to int8, as PyTorch sees it (see operators.cpp).
#include "checks.hpp"

using namespace workbook_ops;

namespace {

Tensor quantize_int8(const Tensor& x, double scale, double zero_point) {
  constexpr double kLeastFloat = 1.4e-45, kMostFloat = 3.4e38;
  const char* op = "quantize_int8";
  const int type = type_of(op, {"x", x}, false);
  check_size(op, {"x", x});
  if (!(scale >= kLeastFloat && scale <= kMostFloat))
    refuse(op, "scale must be a positive number of float32, from 1.4e-45 to 3.4e38, not ", scale);
  if (!(zero_point >= -128 && zero_point <= 127))
    refuse(op, "zero_point must be from -128 to 127, not ", zero_point);
  Tensor q = new_like(x, ScalarType::Char);
  const std::int64_t n = q.numel();
  if (n == 0) return q;
  const Tensor from = like(x, q);
  const WorkbookQuantize task = {type,
                                 static_cast<int>(n),
                                 static_cast<float>(scale),
                                 static_cast<float>(zero_point),
                                 from.data_ptr(),
                                 static_cast<signed char*>(q.data_ptr())};
  run_on(
      op, q, n, kGrain, [&](int begin, int end) { workbook_quantize_cpu(&task, begin, end); },
      [&](void* stream) { return workbook_quantize_cuda(&task, stream); });
  return q;
}

/// A row is the last dimension.
std::tuple<Tensor, Tensor> quantize_rows(const Tensor& x) {
  const char* op = "quantize_rows";
  const int type = type_of(op, {"x", x}, false);
  const std::int64_t dims = x.dim();
  if (dims == 0) refuse(op, "x must have at least one dimension, the last of which is a row");
  check_size(op, {"x", x});
  const std::int64_t columns = x.size(dims - 1);
  std::vector<std::int64_t> shape;
  for (std::int64_t i = 0; i + 1 < dims; ++i) shape.push_back(x.size(i));
  Tensor scales = torch::stable::new_empty(x, shape, ScalarType::Float);
  const Tensor rows = contiguous_of(x);
  RowResult q(x, rows, ScalarType::Char);
  if (x.numel() == 0) {  // rows without elements have the scale of zeros
    torch::stable::fill_(scales, 1);
    return {q.result, scales};
  }
  const std::int64_t n = x.numel() / columns;
  const WorkbookQuantizeRows task = {type,
                                     static_cast<int>(n),
                                     static_cast<int>(columns),
                                     rows.data_ptr(),
                                     static_cast<signed char*>(q.rows.data_ptr()),
                                     static_cast<float*>(scales.data_ptr())};
  run_on(
      op, x, n, std::max<std::int64_t>(1, kGrain / columns),
      [&](int begin, int end) { workbook_quantize_rows_cpu(&task, begin, end); },
      [&](void* stream) { return workbook_quantize_rows_cuda(&task, stream); });
  return {q.finished(), scales};
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(workbook_ops, m) {
  m.def("quantize_int8(Tensor x, float scale, float zero_point) -> Tensor");
  m.def("quantize_rows(Tensor x) -> (Tensor, Tensor)");
}

namespace {
void implement(torch::stable::detail::StableLibrary& m) {
  m.impl("quantize_int8", TORCH_BOX(&quantize_int8));
  m.impl("quantize_rows", TORCH_BOX(&quantize_rows));
}
}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CPU, m) { implement(m); }
STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) { implement(m); }
