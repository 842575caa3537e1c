/// \file
/// The elementwise operators on a GPU. Where a stage of a chapter computes the operator, its kernel is
/// launched as it is: multiply_add and add_mul_exp. All others share one elementwise kernel in the form of
/// those stages.
#include "../01_multiply_add/03_float4.cuh"
#include "../02_add_mul_exp/07_half.cuh"
#include "formulas.hpp"
#include "kernels.gpu.cuh"

namespace DEVICE::operators {

// --- Elementwise ---

constexpr int kThreads = 256;

template <class Formula, class T>
struct Arrays {
  const T* in[Formula::kInputs];
  T* out[Formula::kOutputs];
};

/// The formula at Width elements from element i on. The last input may repeat every `period` elements.
template <class Formula, int Width, class T>
__device__ void compute_vector(const Arrays<Formula, T>& arrays, unsigned i, unsigned period) {
  constexpr int kInputs = Formula::kInputs, kOutputs = Formula::kOutputs;
  using V = Vector<Width, T>;
  V in[kInputs], out[kOutputs];
#pragma unroll
  for (int k = 0; k < kInputs; ++k) {
    const unsigned at = Formula::kRepeats && k == kInputs - 1 ? i % period : i;
    in[k] = *reinterpret_cast<const V*>(arrays.in[k] + at);
  }
#pragma unroll
  for (int j = 0; j < Width; ++j) {
    Compute<T> from[kInputs], to[kOutputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) from[k] = widen(in[k].element[j]);
    Formula::compute(from, to);
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) out[k].element[j] = narrow<T>(to[k]);
  }
#pragma unroll
  for (int k = 0; k < kOutputs; ++k) *reinterpret_cast<V*>(arrays.out[k] + i) = out[k];
}

/// The formula at n elements, one thread per vector of Width elements; the first threads also compute the
/// elements that are left. Traffic: each array is read or written once.
template <class Formula, int Width, class T>
__global__ void elementwise(Arrays<Formula, T> arrays, unsigned n, unsigned period) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, vectors = n / Width;
  if (thread < vectors) compute_vector<Formula, Width>(arrays, Width * thread, period);
  const unsigned left = Width * vectors + thread;
  if (left < n) compute_vector<Formula, 1>(arrays, left, period);
}

// --- The backward pass of GELU(x + bias) ---

/// dx = grad * slope(x + bias), and the sums of the columns of dx over this block's rows in row blockIdx.y of
/// `partial`. Traffic: grad and x are read once, dx is written once, and `partial` is small.
template <class Formula, int Width, class T>
__global__ void bias_gelu_backward(const T* __restrict__ grad, const T* __restrict__ x,
                                   const T* __restrict__ bias, T* __restrict__ dx,
                                   Compute<T>* __restrict__ partial, unsigned rows, unsigned columns) {
  using V = Vector<Width, T>;
  using C = Compute<T>;
  const auto add = [&](size_t r, unsigned first, C(&sums)[1][Width]) {
    const size_t i = r * columns + first;
    const V g = *reinterpret_cast<const V*>(grad + i), v = *reinterpret_cast<const V*>(x + i);
    const V added = *reinterpret_cast<const V*>(bias + first);
    V result;
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const C in[] = {widen(g.element[j]), widen(v.element[j]), widen(added.element[j])};
      C out[1];
      Formula::compute(in, out);
      sums[0][j] += out[0];
      result.element[j] = narrow<T>(out[0]);
    }
    *reinterpret_cast<V*>(dx + i) = result;
  };
  sum_columns<1, Width, kRows, C>(rows, columns, add, [&](int, unsigned column, C sum) {
    partial[static_cast<size_t>(blockIdx.y) * columns + column] = sum;
  });
}

// --- On the host ---

template <class Formula, class T>
void launch_elementwise(const Arrays<Formula, T>& arrays, int n, int period) {
  bool wide = !Formula::kRepeats || period % kWidest<T> == 0;
  for (const T* array : arrays.in) wide = wide && are_aligned(array);
  for (const T* array : arrays.out) wide = wide && are_aligned(array);
  const int width = wide ? kWidest<T> : 1;
  launch(wide ? elementwise<Formula, kWidest<T>, T> : elementwise<Formula, 1, T>,
         static_cast<unsigned>(ceil_div(n, width * kThreads)), kThreads, arrays, static_cast<unsigned>(n),
         static_cast<unsigned>(period));
}

/// The stages that compute an operator, for the types that they are for.
template <class T>
constexpr bool has_stage(MultiplyAdd) {
  return sizeof(T) == 4;
}
template <class T>
constexpr bool has_stage(AddMulExp) {
  return sizeof(T) <= 4;
}
template <class T, class Formula>
constexpr bool has_stage(Formula) {
  return false;
}
void launch_stage(MultiplyAdd, const Arrays<MultiplyAdd, float>& a, int n) {
  launch(multiply_add::vectorised, ceil_div(n, 4 * multiply_add::kFloat4Threads),
         multiply_add::kFloat4Threads, a.in[0], a.in[1], a.in[2], a.out[0], n);
}
template <class T>
void launch_stage(AddMulExp, const Arrays<AddMulExp, T>& a, int n) {
  const int threads = add_mul_exp::vector_threads(n);
  if constexpr (sizeof(T) == 4)
    launch(add_mul_exp::vectorised, ceil_div(n, 4 * threads), threads, a.in[0], a.in[1], a.out[0], n);
  else
    launch(add_mul_exp::halves<T>, ceil_div(n, 8 * threads), threads, a.in[0], a.in[1], a.out[0], n);
}

template <class Formula, class T>
void run_elementwise(const void* const* in, void* const* out, int period, int n) {
  Arrays<Formula, T> arrays;
  for (int k = 0; k < Formula::kInputs; ++k) arrays.in[k] = static_cast<const T*>(in[k]);
  for (int k = 0; k < Formula::kOutputs; ++k) arrays.out[k] = static_cast<T*>(out[k]);
  if constexpr (has_stage<T>(Formula()))
    launch_stage(Formula(), arrays, n);
  else
    launch_elementwise(arrays, n, period);
}

template <class Formula, class T>
void run_bias_gelu_backward(const WorkbookBiasGelu& task) {
  const auto *grad = static_cast<const T*>(task.grad), *x = static_cast<const T*>(task.x),
             *bias = static_cast<const T*>(task.bias);
  auto *dx = static_cast<T*>(task.dx), *dbias = static_cast<T*>(task.dbias);
  auto* partial = static_cast<Compute<T>*>(task.partial);
  const auto rows = static_cast<unsigned>(task.rows), columns = static_cast<unsigned>(task.columns);
  const bool wide = task.columns % kWidest<T> == 0 && are_aligned(grad, x, bias, dx);
  const auto tiles = static_cast<unsigned>(ceil_div(task.columns, kLanes * (wide ? kWidest<T> : 1)));
  launch(wide ? bias_gelu_backward<Formula, kWidest<T>, T> : bias_gelu_backward<Formula, 1, T>,
         dim3(tiles, static_cast<unsigned>(task.parts)), dim3(kLanes, kRows), grad, x, bias, dx, partial,
         rows, columns);
  launch_sum_parts<T>(partial, dbias, nullptr, task.parts, task.columns);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_elementwise_cuda(int formula, int type, const void* const* in, void* const* out, int period,
                              int n, void* stream) {
  if (n == 0) return 0;  // a grid of 0 blocks is an error
  return guarded(stream, [&] {
    with_formula(formula, [&](auto chosen) {
      with_type<__half, __nv_bfloat16>(
          type, [&]<class T>(T*) { run_elementwise<decltype(chosen), T>(in, out, period, n); });
    });
  });
}

int workbook_bias_gelu_backward_cuda(const WorkbookBiasGelu* task, void* stream) {
  return guarded(stream, [&] {
    with_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) {
      if (task->use_tanh)
        run_bias_gelu_backward<BiasGeluTanhBackward, T>(*task);
      else
        run_bias_gelu_backward<BiasGeluBackward, T>(*task);
    });
  });
}

/// Eight blocks of 256 threads fill a multiprocessor's 2048 thread slots.
int workbook_parts_cuda(int type, int rows, int columns) {
  int width = 0;
  with_type<__half, __nv_bfloat16>(type, [&]<class T>(T*) { width = kWidest<T>; });
  const int tiles = (columns - 1) / (kLanes * width) + 1;
  const int wanted = 8 * DEVICE::multiprocessors() / tiles + 1, most = (rows - 1) / kRows + 1;
  return wanted < most ? wanted : most;
}

const char* workbook_error() { return last_error.c_str(); }
