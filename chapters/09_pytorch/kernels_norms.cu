/// \file
/// The operators that normalise rows, on a GPU. Where a stage of chapter 04 computes a row, its kernel is
/// launched as it is: 10_one_read, 10_long_rows, 11_warp_a_row, 14_half and 16_residual. For all other rows,
/// and backward, the kernels are here.
#include "../04_relu_layernorm/10_long_rows.cuh"
#include "../04_relu_layernorm/10_one_read.cuh"
#include "../04_relu_layernorm/11_warp_a_row.cuh"
#include "../04_relu_layernorm/14_half.cuh"
#include "../04_relu_layernorm/16_residual.cuh"
#include "norms.hpp"
#include "rows.gpu.cuh"

namespace DEVICE::operators {

namespace stages = relu_layernorm;

struct Moments {
  float mean, inverse;
};

/// The mean of array 0 of the row, 0 where none is subtracted, and 1 / sqrt(variance + epsilon).
template <class Norm, int Width, class R>
__device__ Moments moments_of(const R& row, const Place& place, unsigned columns, float epsilon) {
  float mean = 0.0f;
  if (!Norm::kResidual) {
    float sum = 0.0f;
    row.each([&](unsigned, const auto& v) {
#pragma unroll
      for (int j = 0; j < Width; ++j) sum += v[0][j];
    });
    mean = place.sum(sum) / static_cast<float>(columns);
  }
  float squares = 0.0f;
  row.each([&](unsigned, const auto& v) {
#pragma unroll
    for (int j = 0; j < Width; ++j) squares += (v[0][j] - mean) * (v[0][j] - mean);
  });
  return {mean, rsqrtf(place.sum(squares) / static_cast<float>(columns) + epsilon)};
}

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

// --- Backward ---

template <class T>
struct Backward {
  const T *grad, *grad_sum, *x, *weight, *bias;
  T* dx;
  float *moments, *partial;
};

/// The gradient of weight * z + bias, where z is the normalised element: that of the result, but 0 where a
/// ReLU that comes last has cut it off.
template <class Norm>
__device__ float passed_grad(float grad, float z, float weight, float bias) {
  return Norm::kReluLast && z * weight + bias <= 0.0f ? 0.0f : grad;
}

/// The gradient of x: with z = (input - mean) * inverse and g = grad * weight, inverse * (g - mean(g) - z *
/// mean(g * z)), without mean(g) where no mean is subtracted. Mean and inverse of each row are left in
/// arrays.moments. Vectors as in norm_rows(). Traffic: x and grad are read once as far as a thread keeps its
/// part of a row, dx is written once, and each row reads weight and bias, from a cache.
template <class Norm, int Width, class T>
__global__ void __launch_bounds__(kMostThreads)
    norm_backward(Backward<T> arrays, unsigned rows, unsigned columns, unsigned lanes, float epsilon) {
  const Place place(lanes);
  const size_t first = place.row * columns;
  const T *x = arrays.x + first, *grad = arrays.grad + first;
  const auto load = [=](unsigned i, float(&v)[2][Width]) {
    load_vector(x, i, v[0]);
    load_vector(grad, i, v[1]);
#pragma unroll
    for (int j = 0; j < Width; ++j)
      if constexpr (Norm::kReluFirst) v[0][j] = stages::relu(v[0][j]);
  };
  const Row<2, Width, decltype(load)> row(place, place.row < rows ? columns / Width : 0, load);
  const Moments moments = moments_of<Norm, Width>(row, place, columns, epsilon);
  if (place.t == 0 && place.row < rows) {
    arrays.moments[2 * place.row] = moments.mean;
    arrays.moments[2 * place.row + 1] = moments.inverse;
  }

  // z and g, from a vector of the row
  const auto compute = [&](unsigned i, const float(&v)[2][Width], float(&z)[Width], float(&g)[Width]) {
    float weights[Width], biases[Width] = {};
    load_vector(arrays.weight, i, weights);
    if constexpr (Norm::kReluLast) load_vector(arrays.bias, i, biases);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      z[j] = (v[0][j] - moments.mean) * moments.inverse;
      g[j] = passed_grad<Norm>(v[1][j], z[j], weights[j], biases[j]) * weights[j];
    }
  };
  float sum = 0.0f, products = 0.0f;
  row.each([&](unsigned i, const float(&v)[2][Width]) {
    float z[Width], g[Width];
    compute(i, v, z, g);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      sum += g[j];
      products += g[j] * z[j];
    }
  });
  const float mean_g = Norm::kResidual ? 0.0f : place.sum(sum) / static_cast<float>(columns);
  const float mean_gz = place.sum(products) / static_cast<float>(columns);
  row.each([&](unsigned i, const float(&v)[2][Width]) {
    float z[Width], g[Width], dx[Width];
    compute(i, v, z, g);
    float added[Width] = {};
    if (Norm::kResidual && arrays.grad_sum) load_vector(arrays.grad_sum + first, i, added);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      dx[j] = moments.inverse * (g[j] - mean_g - z[j] * mean_gz) + added[j];
      if (Norm::kReluFirst && v[0][j] <= 0.0f) dx[j] = 0.0f;
    }
    store_vector(arrays.dx + first, i, dx);
  });
}

/// The sums of the columns for the gradients of weight and bias over this block's rows:
/// partial[blockIdx.y][0] and [1]. Traffic: x and grad are read once.
template <class Norm, int Width, class T>
__global__ void norm_columns(Backward<T> arrays, unsigned rows, unsigned columns) {
  constexpr int kSums = Norm::kResidual ? 1 : 2;
  const auto add = [&](size_t r, unsigned first, float(&sums)[kSums][Width]) {
    float v[Width], grads[Width], weights[Width] = {}, biases[Width] = {};
    load_vector(arrays.x + r * columns + first, 0, v);
    load_vector(arrays.grad + r * columns + first, 0, grads);
    if constexpr (Norm::kReluLast) {
      load_vector(arrays.weight + first, 0, weights);
      load_vector(arrays.bias + first, 0, biases);
    }
    const float mean = arrays.moments[2 * r], inverse = arrays.moments[2 * r + 1];
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const float z = ((Norm::kReluFirst ? stages::relu(v[j]) : v[j]) - mean) * inverse;
      const float passed = passed_grad<Norm>(grads[j], z, weights[j], biases[j]);
      sums[0][j] += passed * z;
      if constexpr (kSums == 2) sums[1][j] += passed;
    }
  };
  sum_columns<kSums, Width, kRows, float>(rows, columns, add, [&](int s, unsigned column, float sum) {
    arrays.partial[(static_cast<size_t>(blockIdx.y) * kSums + s) * columns + column] = sum;
  });
}

// --- On the host ---

/// Launches a stage of chapter 04 if one is for such rows.
template <class T>
bool launch_stage(LayerNormRelu, const Forward<T>& a, const WorkbookNorm& task, bool wide) {
  if constexpr (sizeof(T) == 4) {
    if (is_short(task.columns) || task.columns > 1024 * kHeld) return false;
    launch(wide ? stages::one_read<float4, true, true> : stages::one_read<float, true, true>, task.rows,
           stages::row_threads(task.columns, kHeld, 1024), a.x, a.weight, a.bias, a.y, task.columns,
           task.epsilon);
    return true;
  }
  return false;
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
    stages::launch_half_rows<T>(a.x, a.weight, a.bias, a.y, rows, columns, task.epsilon);
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

template <class Norm, class T>
void run_norm_backward(const WorkbookNormBackward& task) {
  const auto in = [](const void* array) { return static_cast<const T*>(array); };
  const auto out = [](void* array) { return static_cast<T*>(array); };
  const Backward<T> a = {in(task.grad),
                         in(task.grad_sum),
                         in(task.x),
                         in(task.weight),
                         in(task.bias),
                         out(task.dx),
                         static_cast<float*>(task.moments),
                         static_cast<float*>(task.partial)};
  const bool wide =
      task.columns % kWidest<T> == 0 && are_aligned(a.grad, a.grad_sum, a.x, a.weight, a.bias, a.dx);
  launch_rows(wide ? norm_backward<Norm, kWidest<T>, T> : norm_backward<Norm, 1, T>, a, task.rows,
              task.columns, task.epsilon);
  const unsigned tile = kLanes * (wide ? kWidest<T> : 1), columns = static_cast<unsigned>(task.columns);
  launch(wide ? norm_columns<Norm, kWidest<T>, T> : norm_columns<Norm, 1, T>,
         dim3((columns - 1) / tile + 1, static_cast<unsigned>(task.parts)), dim3(kLanes, kRows), a,
         static_cast<unsigned>(task.rows), columns);
  launch_sum_parts(a.partial, out(task.dweight), out(task.dbias), task.parts, task.columns);
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

int workbook_norm_backward_cuda(const WorkbookNormBackward* task, void* stream) {
  return guarded(stream, [&] {
    with_norm(task->kind, [&]<class Norm>(Norm) {
      with_short_type<__half, __nv_bfloat16>(task->type,
                                             [&]<class T>(T*) { run_norm_backward<Norm, T>(*task); });
    });
  });
}
