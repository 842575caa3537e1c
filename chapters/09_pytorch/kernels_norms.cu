/// \file
/// The operators that normalise rows, on a GPU. Where a stage of chapter 04 computes a row, its kernel is
/// launched as it is: 10_one_read, 10_long_rows, 11_warp_a_row, 14_half and 16_residual. The kernel for all
/// other rows is here; kernels_norms_backward.cu has the backward pass.
#include "../04_relu_layernorm/10_long_rows.cuh"
#include "../04_relu_layernorm/10_one_read.cuh"
#include "../04_relu_layernorm/11_warp_a_row.cuh"
#include "../04_relu_layernorm/14_half.cuh"
#include "../04_relu_layernorm/16_residual.cuh"
#include "norms.gpu.cuh"

namespace DEVICE::operators {

namespace stages = relu_layernorm;

template <class T>
struct Forward {
  const T *x, *residual, *weight, *bias;
  T *y, *sum;
};

/// y = the normalised rows, and sum = x + residual for ResidualRmsNorm. Vectors of Width elements: all arrays
/// and rows begin at a multiple of their size. Traffic: x and residual are read once as far as a thread keeps
/// its part of a row, y and sum are written once, and each row reads weight and bias, from a cache.
template <class Norm, int Width, class T>
__global__ void __launch_bounds__(kMostThreads)
    norm_rows(Forward<T> arrays, unsigned rows, unsigned columns, unsigned lanes, float epsilon) {
  const Place place(lanes);
  const size_t first = place.row * columns;
  const T *x = arrays.x + first, *residual = arrays.residual + first;
  const auto load = [=](unsigned i, float(&v)[1][Width]) {
    load_vector(x, i, v[0]);
    float added[Width] = {};
    if constexpr (Norm::kResidual) load_vector(residual, i, added);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      if constexpr (Norm::kResidual) v[0][j] = to_float(from_float<T>(v[0][j] + added[j]));
      if constexpr (Norm::kReluFirst) v[0][j] = stages::relu(v[0][j]);
    }
  };
  const Row<1, Width, decltype(load)> row(place, place.row < rows ? columns / Width : 0, load);
  const Moments moments = moments_of<Norm, Width>(row, place, columns, epsilon);
  row.each([&](unsigned i, const float(&v)[1][Width]) {
    float weights[Width], biases[Width] = {}, results[Width];
    load_vector(arrays.weight, i, weights);
    if constexpr (!Norm::kResidual) load_vector(arrays.bias, i, biases);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      results[j] = stages::affine(v[0][j] - moments.mean, moments.inverse, weights[j], biases[j]);
      if constexpr (Norm::kReluLast) results[j] = stages::relu(results[j]);
    }
    if constexpr (Norm::kResidual) store_vector(arrays.sum + first, i, v[0]);
    store_vector(arrays.y + first, i, results);
  });
}

// --- On the host ---

/// Launches a stage of chapter 04 if one is for such rows.
template <class T>
bool launch_stage(LayerNormRelu, const Forward<T>& a, const WorkbookNorm& task, bool wide) {
  if (is_short(task.columns) || task.columns > 1024 * kHeld) return false;
  if constexpr (sizeof(T) == 4)
    launch(wide ? stages::one_read<float4, true, true> : stages::one_read<float, true, true>, task.rows,
           stages::row_threads(task.columns, kHeld, 1024), a.x, a.weight, a.bias, a.y, task.columns,
           task.epsilon);
  else
    stages::launch_half_rows<T, true>(a.x, a.weight, a.bias, a.y, task.rows, task.columns, task.epsilon);
  return true;
}

template <class T>
bool launch_stage(ReluLayerNorm, const Forward<T>& a, const WorkbookNorm& task, bool wide) {
  const int rows = task.rows, columns = task.columns;
  if constexpr (sizeof(T) == 4) {
    const int lanes = static_cast<int>(lanes_of(columns)), per_block = stages::WarpPerRow::kBlock / lanes;
    if (is_short(columns) && static_cast<long long>(rows) * lanes < 1ll << 31)
      launch(wide ? stages::warp_per_row<float4> : stages::warp_per_row<float>, ceil_div(rows, per_block),
             stages::WarpPerRow::kBlock, a.x, a.weight, a.bias, a.y, rows, columns, lanes, task.epsilon);
    else if (is_short(columns))
      return false;
    else if (columns <= 1024 * kHeld)
      launch(wide ? stages::one_read<float4, true, false> : stages::one_read<float, true, false>, rows,
             stages::row_threads(columns, kHeld, 1024), a.x, a.weight, a.bias, a.y, columns, task.epsilon);
    else if (stages::fits_block(columns))
      launch_shared(wide ? stages::long_rows<float4> : stages::long_rows<float>, rows,
                    stages::kLongRowThreads, static_cast<size_t>(stages::staged_bytes(columns)), a.x,
                    a.weight, a.bias, a.y, columns, task.epsilon);
    else
      return false;
  } else {
    if (is_short(columns) || columns > 1024 * kHeld) return false;
    stages::launch_half_rows<T, false>(a.x, a.weight, a.bias, a.y, rows, columns, task.epsilon);
  }
  return true;
}

template <class T>
bool launch_stage(ResidualRmsNorm, const Forward<T>& a, const WorkbookNorm& task, bool) {
  if (is_short(task.columns) || task.columns > 1024 * kHeld) return false;
  stages::launch_residual_rms<T>(a.x, a.residual, a.weight, a.sum, a.y, task.rows, task.columns,
                                 task.epsilon);
  return true;
}

template <class Norm, class T>
void run_norm(const WorkbookNorm& task) {
  const auto in = [](const void* array) { return static_cast<const T*>(array); };
  const auto out = [](void* array) { return static_cast<T*>(array); };
  const Forward<T> a = {in(task.x),    in(task.residual), in(task.weight),
                        in(task.bias), out(task.y),       out(task.sum)};
  const bool wide =
      task.columns % kWidest<T> == 0 && are_aligned(a.x, a.residual, a.weight, a.bias, a.y, a.sum);
  if (launch_stage(Norm(), a, task, wide)) return;
  launch_rows(wide ? norm_rows<Norm, kWidest<T>, T> : norm_rows<Norm, 1, T>, a, task.rows, task.columns,
              task.epsilon);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_norm_cuda(const WorkbookNorm* task, void* stream) {
  return guarded(stream, [&] {
    with_norm(task->kind, [&]<class Norm>(Norm) {
      with_short_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) { run_norm<Norm, T>(*task); });
    });
  });
}
