/// \file
/// GELU and dropout on a GPU, in the form of chapter 07: stages 4 and 6 forward and stage 9 backward, with
/// the faster GELU of 06_fast, or in bfloat16 by the tables of 06_table and 09_table. Those kernels get the
/// seed as an argument. Here it is read from memory, as stage 13 reads the offset: PyTorch draws it on the
/// GPU, and no CUDA graph can freeze it.
#include "../07_gelu_dropout/06_fast.gpu.cuh"
#include "../07_gelu_dropout/09_table.cuh"
#include "kernels.gpu.cuh"

namespace DEVICE::operators {

using gelu_dropout::load;
using gelu_dropout::store;

/// Vectors of 16 bytes that a thread has: eight elements, which one Philox call is enough for.
template <class T>
constexpr int kVectors = sizeof(T) == 4 ? 2 : 1;

/// out[i] = dropout(gelu(x[i])), or if `Backward` grad[i] * dropout(the derivative of gelu at x[i]), with the
/// numbers of Sharing. Traffic: reads x, and grad if `Backward`, and writes out, once each.
template <bool Backward, class Form, class T>
__global__ void dropout_of_gelu(const T* __restrict__ x, const T* __restrict__ grad, T* __restrict__ out,
                                unsigned n, Dropout dropout, const unsigned long long* __restrict__ seed) {
  using Numbers = Sharing<T, kVectors<T>>;
  using V = gelu_dropout::Vector<T>;
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = Numbers::first_vector(t);
  const bool aligned = are_aligned(x, out) && (!Backward || are_aligned(grad));
  V values[kVectors<T>], grads[kVectors<T>];
#pragma unroll
  for (int v = 0; v < kVectors<T>; ++v) {
    values[v] = load(x, first + 32 * v, n, aligned);
    if (Backward) grads[v] = load(grad, first + 32 * v, n, aligned);
  }
  dropout.random.seed = *seed;
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int v = 0; v < kVectors<T>; ++v) {
#pragma unroll
    for (int j = 0; j < Numbers::kWidth; ++j) {
      const unsigned drawn = number<Numbers::kBits>(call, v * Numbers::kWidth + j);
      const float value = to_float(values[v].element[j]);
      const float result = Backward ? to_float(grads[v].element[j]) * Form::slope(value) : Form::value(value);
      values[v].element[j] = from_float<T>(dropout(result, drawn));
    }
    store(out, first + 32 * v, n, aligned, values[v]);
  }
}

/// The same with the exact GELU of bfloat16 numbers, looked up in a table.
template <bool Backward>
__global__ void __launch_bounds__(gelu_dropout::kTableThreads)
    dropout_of_gelu_by_table(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ grad,
                             const float* __restrict__ factors, __nv_bfloat16* __restrict__ out, unsigned n,
                             Dropout dropout, const unsigned long long* __restrict__ seed) {
  __shared__ gelu_dropout::Table table;
  table.copy(factors);
  dropout.random.seed = *seed;
  const bool aligned = are_aligned(x, out) && (!Backward || are_aligned(grad));
  for (unsigned v = blockIdx.x * blockDim.x + threadIdx.x; 8 * v < n; v += gridDim.x * blockDim.x) {
    const auto values = load(x, v, n, aligned);
    auto eight = Backward ? load(grad, v, n, aligned) : values;
    eight.bits() =
        gelu_dropout::multiply_or_drop(eight.bits(), values.bits(), table, dropout.random(v), dropout);
    store(out, v, n, aligned, eight);
  }
}

// --- On the host ---

/// From so many elements on, a table takes less time on an H200 (docs/07_gelu_dropout.md).
constexpr int kTablePays = 1 << 23;

bool takes_table(const WorkbookGeluDropout& task) {
  return task.type == kBFloat16 && !task.use_tanh && task.n >= kTablePays;
}

void run_by_table(const WorkbookGeluDropout& task) {
  const Dropout dropout = make_dropout<16>(task.p, 0, 0);
  float* const factors = static_cast<float*>(task.scratch);
  if (task.grad)
    gelu_dropout::launch_compute_table<gelu_dropout::Slope>(factors, dropout.scale);
  else
    gelu_dropout::launch_compute_table<gelu_dropout::Distribution>(factors, dropout.scale);
  launch(task.grad ? dropout_of_gelu_by_table<true> : dropout_of_gelu_by_table<false>,
         gelu_dropout::table_blocks(task.n), gelu_dropout::kTableThreads,
         static_cast<const __nv_bfloat16*>(task.x), static_cast<const __nv_bfloat16*>(task.grad), factors,
         static_cast<__nv_bfloat16*>(task.out), static_cast<unsigned>(task.n), dropout, task.seed);
}

template <class Form, class T>
void run_gelu_dropout(const WorkbookGeluDropout& task) {
  using Numbers = Sharing<T, kVectors<T>>;
  constexpr int kThreads = 256;
  static_assert(Numbers::kBits == 16);
  launch(task.grad ? dropout_of_gelu<true, Form, T> : dropout_of_gelu<false, Form, T>,
         static_cast<unsigned>(ceil_div(task.n, Numbers::kNumbers * kThreads)), kThreads,
         static_cast<const T*>(task.x), static_cast<const T*>(task.grad), static_cast<T*>(task.out),
         static_cast<unsigned>(task.n), make_dropout<16>(task.p, 0, 0), task.seed);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_gelu_dropout_cuda(const WorkbookGeluDropout* task, void* stream) {
  return guarded(stream, [&] {
    with_short_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) {
      if (takes_table(*task))
        run_by_table(*task);
      else if (task->use_tanh)
        run_gelu_dropout<DEVICE::gelu_dropout::Tanh, T>(*task);
      else
        run_gelu_dropout<DEVICE::gelu_dropout::FastErf, T>(*task);
    });
  });
}

long long workbook_gelu_dropout_scratch(const WorkbookGeluDropout* task) {
  return takes_table(*task) ? DEVICE::gelu_dropout::kFactors : 0;
}
