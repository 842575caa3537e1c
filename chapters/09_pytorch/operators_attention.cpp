/// \file
/// Attention, as PyTorch sees it (see operators.cpp). On the CPU it is made of PyTorch's own operators, in
/// kernels.py.
#include "checks.hpp"

using namespace workbook_ops;

STABLE_TORCH_LIBRARY_FRAGMENT(workbook_ops, m) {
  m.def("attention(Tensor q, Tensor k, Tensor v, float scale, bool causal=False) -> Tensor");
  m.def("attention_scores(Tensor q, Tensor k, float scale, bool causal=False) -> Tensor");
}

#ifdef WORKBOOK_OPS_CUDA
namespace {

constexpr std::int64_t kMostD = 128, kMostScoreD = 64, kMostScoreKeys = 1024;

/// The sizes of a tensor whose last dimensions are heads, rows and d; those before them are batches.
struct Heads {
  std::int64_t batches = 1, heads, rows, d;

  explicit Heads(const Tensor& t) : heads(from_end(t, 3)), rows(from_end(t, 2)), d(from_end(t, 1)) {
    for (std::int64_t i = 0; i + 3 < t.dim(); ++i) batches *= t.size(i);
  }
  static std::int64_t from_end(const Tensor& t, std::int64_t i) { return t.size(t.dim() - i); }
};

/// Checks q and k, and v where there is one. The arrays of the task are still to be filled in.
WorkbookAttention check_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor* v,
                                  double scale, bool causal) {
  const int type = type_of(op, {"q", q}, false);
  if (type == kFloat16) refuse(op, "q must be float32 or bfloat16, not Half");
  check_same_type_and_device(op, {"q", q}, {"k", k});
  if (v) check_alike(op, {{"k", k}, {"v", *v}}, false);
  bool fits = q.dim() >= 3 && k.dim() == q.dim();
  for (std::int64_t i = 0; fits && i + 3 < q.dim(); ++i) fits = q.size(i) == k.size(i);
  if (!fits || Heads(q).d != Heads(k).d)
    refuse(op, "q must have the dimensions [..., heads, queries, d] and k [..., heads, keys, d], but are ",
           Shape{q}, " and ", Shape{k});
  const Heads of_q(q), of_k(k);
  if (of_k.heads == 0 ? of_q.heads != 0 : of_q.heads % of_k.heads != 0)
    refuse(op, "the heads of q must be a multiple of those of k, but are ", of_q.heads, " and ", of_k.heads);
  const std::int64_t most_d = v || type == kFloat32 ? kMostD : kMostScoreD;
  if (of_q.d > most_d) refuse(op, "d is ", of_q.d, "; ", most_d, " is the most");
  if (!v && of_k.rows > kMostScoreKeys)
    refuse(op, "there are ", of_k.rows, " keys; ", kMostScoreKeys, " is the most");
  if (!(scale > 0)) refuse(op, "scale must be positive, not ", scale);
  check_size(op, {"q", q});
  check_size(op, {"k", k});
  const auto as_int = [](std::int64_t size) { return static_cast<int>(size); };
  return {.causal = causal,
          .type = type,
          .heads = as_int(of_q.batches * of_q.heads),
          .key_heads = as_int(of_k.batches * of_k.heads),
          .queries = as_int(of_q.rows),
          .keys = as_int(of_k.rows),
          .d = as_int(of_q.d),
          .scale = static_cast<float>(scale),
          .q = nullptr,
          .k = nullptr,
          .v = nullptr,
          .out = nullptr,
          .scratch = nullptr};
}

Tensor run_attention(const char* op, const Tensor& q, const Tensor& k, const Tensor* v, double scale,
                     bool causal) {
  WorkbookAttention task = check_attention(op, q, k, v, scale, causal);
  std::vector<std::int64_t> shape(q.sizes().begin(), q.sizes().end());
  if (!v) shape.back() = task.keys;
  check_size(op, "the result", static_cast<std::int64_t>(task.heads) * task.queries * shape.back());
  Tensor result = torch::stable::new_empty(q, shape);
  if (result.numel() == 0) return result;
  if (task.keys == 0) return torch::stable::zero_(result);
  const Tensor queries = contiguous_of(q), keys = contiguous_of(k);
  const Tensor values = v ? contiguous_of(*v) : keys;
  task.q = queries.data_ptr();
  task.k = keys.data_ptr();
  task.v = v ? values.data_ptr() : nullptr;
  task.out = result.data_ptr();
  run_on(
      op, result, 0, 1, [](int, int) {},
      [&](void* stream) {
        Tensor scratch = result;  // is replaced if there is one
        if (const long long floats = v ? workbook_attention_scratch(&task) : 0) {
          scratch = torch::stable::new_empty(q, {floats}, ScalarType::Float);
          task.scratch = scratch.data_ptr();
        }
        return workbook_attention_cuda(&task, stream);
      });
  return result;
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale, bool causal) {
  return run_attention("attention", q, k, &v, scale, causal);
}
Tensor attention_scores(const Tensor& q, const Tensor& k, double scale, bool causal) {
  return run_attention("attention_scores", q, k, nullptr, scale, causal);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(workbook_ops, CUDA, m) {
  m.impl("attention", TORCH_BOX(&attention));
  m.impl("attention_scores", TORCH_BOX(&attention_scores));
}
#endif
