/// \file
/// The operators that reduce one dimension, on a GPU. Float32 arrays have the kernels of chapter 04 where
/// they fit: 05_vectorised for rows that are long enough for a block, and 06_columns for columns. The kernels
/// for other types and for all other lines are here, and so is the backward pass.
#include "../04_relu_layernorm/05_vectorised.cuh"
#include "../04_relu_layernorm/06_columns.cuh"
#include "reductions.hpp"
#include "rows.gpu.cuh"

namespace DEVICE::operators {

namespace stages = relu_layernorm;

// --- Forward ---

/// `lines` lines of `size` elements that are `inner` apart. Their sums, divided by `divisor`, go to `out`;
/// those of a part of a line, blockIdx.y of gridDim.y parts, to `partial`.
template <class T>
struct Reduced {
  const T* x;
  T* out;
  Compute<T>* partial;
  unsigned lines, size, inner;
  Compute<T> divisor;

  __device__ void store(unsigned line, Compute<T> sum) const {
    if (gridDim.y == 1)
      out[line] = narrow<T>(sum / divisor);
    else
      partial[blockIdx.y * lines + line] = sum;
  }
};

/// The sums of the terms of a part of each row. Vectors of Width elements: x and all rows begin at a multiple
/// of their size. Traffic: x is read once.
template <class Reduction, int Width, class T>
__global__ void __launch_bounds__(kMostThreads) reduce_rows(Reduced<T> a, unsigned lanes) {
  const Place place(lanes);
  const bool inside = place.row < a.lines;
  const size_t vectors = a.size / Width, end = vectors * (blockIdx.y + 1) / gridDim.y;
  const auto* row = reinterpret_cast<const Vector<Width, T>*>(a.x + place.row * a.size);
  Compute<T> sum = 0;
#pragma unroll 4
  for (size_t i = vectors * blockIdx.y / gridDim.y + place.t; inside && i < end; i += lanes) {
    const Vector<Width, T> v = row[i];
#pragma unroll
    for (int j = 0; j < Width; ++j) sum += Reduction::term(widen(v.element[j]));
  }
  sum = place.sum(sum);
  if (inside && place.t == 0) a.store(static_cast<unsigned>(place.row), sum);
}

/// The sums of the terms of a part of each line, where neighbouring lines have neighbouring elements: `inner`
/// is a multiple of Width, and so is the address of x. Traffic: x is read once.
template <class Reduction, int Width, class T>
__global__ void reduce_lines(Reduced<T> a) {
  using V = Vector<Width, T>;
  using C = Compute<T>;
  const auto add = [&](size_t r, unsigned line, C(&sums)[1][Width]) {
    const size_t first = static_cast<size_t>(line / a.inner) * a.size * a.inner + line % a.inner;
    const V v = *reinterpret_cast<const V*>(a.x + first + r * a.inner);
#pragma unroll
    for (int j = 0; j < Width; ++j) sums[0][j] += Reduction::term(widen(v.element[j]));
  };
  sum_columns<1, Width, kRows, C>(a.size, a.lines, add,
                                  [&](int, unsigned line, C sum) { a.store(line, sum); });
}

// --- Backward ---

/// dx = grad, repeated along each line, / divisor * slope(x): one thread per vector of Width elements, all of
/// one line or of neighbouring ones. Traffic: x is read once and dx written once; grad comes from a cache.
template <class Reduction, int Width, class T>
__global__ void reduction_backward(const T* __restrict__ grad, const T* __restrict__ x, T* __restrict__ dx,
                                   unsigned n, unsigned size, unsigned inner, Compute<T> divisor) {
  using V = Vector<Width, T>;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, first = thread * Width;
  if (thread >= n / Width) return;
  const unsigned line = first / (size * inner) * inner + first % inner;
  V v = reinterpret_cast<const V*>(x)[thread], grads;
  if (inner == 1) {
#pragma unroll
    for (int j = 0; j < Width; ++j) grads.element[j] = grad[line];
  } else {
    grads = *reinterpret_cast<const V*>(grad + line);
  }
#pragma unroll
  for (int j = 0; j < Width; ++j)
    v.element[j] = narrow<T>(widen(grads.element[j]) / divisor * Reduction::slope(widen(v.element[j])));
  reinterpret_cast<V*>(dx)[thread] = v;
}

// --- On the host ---

constexpr int kThreads = 256;

template <class Reduction>
using Term = std::conditional_t<std::is_same_v<Reduction, SumOfSquares>, stages::Square, stages::Magnitude>;

/// Float32 rows in one part, of which each has work for a block: the stage of chapter 04.
template <class Reduction>
void launch_row_stage(const WorkbookReduction& task, const Reduced<float>& a) {
  const bool four = task.size % 4 == 0 && are_aligned(a.x);
  launch(four ? stages::reduce_rows<Term<Reduction>, float4> : stages::reduce_rows<Term<Reduction>, float>,
         a.lines, stages::row_threads(task.size, four ? 16 : 4, 512), a.x, a.out, task.size, a.divisor);
}

template <class Reduction, class T>
void reduce_all_rows(const WorkbookReduction& task, const Reduced<T>& a) {
  if constexpr (std::is_same_v<T, float>)
    if (!is_short(task.size) && task.parts == 1) return launch_row_stage<Reduction>(task, a);
  const bool wide = task.size % kWidest<T> == 0 && are_aligned(a.x);
  const RowGrid grid(task.outer, (task.size - 1) / task.parts + 1);
  launch(wide ? reduce_rows<Reduction, kWidest<T>, T> : reduce_rows<Reduction, 1, T>,
         dim3(grid.blocks, static_cast<unsigned>(task.parts)), grid.threads, a, grid.lanes);
}

bool are_columns(const WorkbookReduction& task) {
  return task.type == kFloat32 && task.outer == 1 && task.inner > 1;
}

template <class Reduction, class T>
void reduce_all_lines(const WorkbookReduction& task, const Reduced<T>& a) {
  const bool wide = task.inner % kWidest<T> == 0 && are_aligned(a.x);
  const unsigned tiles = (a.lines - 1) / (kLanes * (wide ? kWidest<T> : 1)) + 1;
  launch(wide ? reduce_lines<Reduction, kWidest<T>, T> : reduce_lines<Reduction, 1, T>,
         dim3(tiles, static_cast<unsigned>(task.parts)), dim3(kLanes, kRows), a);
}

template <class Reduction, class T>
void run_reduction(const WorkbookReduction& task) {
  using C = Compute<T>;
  const Reduced<T> a = {static_cast<const T*>(task.x),
                        static_cast<T*>(task.out),
                        static_cast<C*>(task.partial),
                        static_cast<unsigned>(task.outer) * static_cast<unsigned>(task.inner),
                        static_cast<unsigned>(task.size),
                        static_cast<unsigned>(task.inner),
                        static_cast<C>(Reduction::kMean ? task.size : 1)};
  if constexpr (std::is_same_v<T, float>)
    if (are_columns(task))  // the stage of chapter 04
      return stages::launch_reduce_columns<Term<Reduction>>(a.x, a.partial, a.out, task.size, task.inner,
                                                            task.parts, a.divisor);
  if (task.inner == 1)
    reduce_all_rows<Reduction>(task, a);
  else
    reduce_all_lines<Reduction>(task, a);
  if (task.parts > 1)
    launch_sum_parts<T>(a.partial, a.out, nullptr, task.parts, static_cast<int>(a.lines), a.divisor);
}

template <class Reduction, class T>
void run_reduction_backward(const WorkbookReductionBackward& task) {
  using C = Compute<T>;
  const auto *grad = static_cast<const T*>(task.grad), *x = static_cast<const T*>(task.x);
  auto* dx = static_cast<T*>(task.dx);
  const int neighbours = task.inner == 1 ? task.size : task.inner, n = task.outer * task.size * task.inner;
  const bool wide =
      neighbours % kWidest<T> == 0 && are_aligned(x, dx) && (task.inner == 1 || are_aligned(grad));
  launch(wide ? reduction_backward<Reduction, kWidest<T>, T> : reduction_backward<Reduction, 1, T>,
         static_cast<unsigned>(ceil_div(n, (wide ? kWidest<T> : 1) * kThreads)), kThreads, grad, x, dx,
         static_cast<unsigned>(n), static_cast<unsigned>(task.size), static_cast<unsigned>(task.inner),
         static_cast<C>(Reduction::kMean ? task.size : 1));
}

/// A part of a row is worth a block from this many elements on.
constexpr int kRowPart = 8192;

int row_parts(int rows, int columns) {
  const int wanted = 4 * multiprocessors() / rows + 1, most = (columns - 1) / kRowPart + 1;
  return wanted < most ? wanted : most;
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_reduction_parts_cuda(const WorkbookReduction* task) {
  if (task->inner == 1) return row_parts(task->outer, task->size);
  if (are_columns(*task)) return stages::slices({{task->size, task->inner, 1}});
  return workbook_parts_cuda(task->type, task->size, task->outer * task->inner);
}

int workbook_reduction_cuda(const WorkbookReduction* task, void* stream) {
  return guarded(stream, [&] {
    with_reduction(task->kind, [&]<class Reduction>(Reduction) {
      with_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) { run_reduction<Reduction, T>(*task); });
    });
  });
}

int workbook_reduction_backward_cuda(const WorkbookReductionBackward* task, void* stream) {
  return guarded(stream, [&] {
    with_reduction(task->kind, [&]<class Reduction>(Reduction) {
      with_type<__half, __nv_bfloat16>(task->type,
                                       [&]<class T>(T*) { run_reduction_backward<Reduction, T>(*task); });
    });
  });
}
