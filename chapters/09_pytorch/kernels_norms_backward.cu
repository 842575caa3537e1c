/// \file
/// The backward pass of the operators that normalise rows, on a GPU: one kernel reads each row once, for its
/// gradient and for the sums of the columns. Of rows that are too long for that, or not aligned, two kernels
/// read everything twice.
#include <algorithm>

#include "norms.gpu.cuh"

namespace DEVICE::operators {

namespace stages = relu_layernorm;

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

// --- One read ---

/// Rows of up to so many elements are read once: a thread keeps `Elements` of its row and the sums of as many
/// columns. With more of them, a row has fewer threads that add up what they have; with fewer, more rows are
/// loaded at the same time.
constexpr int kMostColumns = 8192, kManyElements = 32, kFewElements = 16;

/// Sums over the `lanes` threads of a row, several at once, in each of them: 8, 16 or 32 neighbouring
/// threads, or the whole block.
class RowSums {
 public:
  __device__ explicit RowSums(unsigned lanes) : lanes_(lanes) {}

  template <int Count>
  __device__ void operator()(float (&values)[Count]) {
    if (lanes_ <= 32) {
#pragma unroll
      for (int s = 0; s < Count; ++s) values[s] = stages::lanes_sum(values[s], static_cast<int>(lanes_));
      return;
    }
    __shared__ float sums[2][3][32];  // two calls take turns, so one barrier is enough for each
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int s = 0; s < Count; ++s) {
      values[s] = warp_sum(values[s]);
      if (lane == 0) sums[turn_][s][warp] = values[s];
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < Count; ++s) values[s] = warp_sum(lane < lanes_ / 32 ? sums[turn_][s][lane] : 0.0f);
    turn_ ^= 1;
  }

 private:
  unsigned lanes_, turn_ = 0;
};

/// ReLU of each element; a NaN stays one.
template <int Width, class T>
__device__ void relu_vector(Vector<Width, T>& v) {
  if constexpr (sizeof(T) == 2) {
    stages::relu_in_place(v.element);
  } else {
#pragma unroll
    for (int j = 0; j < Width; ++j) v.element[j] = stages::relu(v.element[j]);
  }
}

/// dx and, in partial[blockIdx.x], the sums of the columns over this block's rows, as norm_backward() and
/// norm_columns() have them. blockDim.x / lanes rows at a time; columns <= Elements * lanes. All arrays and
/// rows begin at multiples of 16 bytes, `partial` of 32. Traffic: x, grad and grad_sum are read once and dx
/// is written once; each row reads weight and bias, from a cache; `partial` is small.
template <class Norm, int Elements, class T>
__global__ void __launch_bounds__(kMostColumns / Elements, sizeof(T) == 2 ? Elements / kFewElements : 1)
    norm_backward_at_once(Backward<T> arrays, unsigned rows, unsigned columns, unsigned lanes,
                          float epsilon) {
  constexpr int kWidth = kWidest<T>, kVectors = Elements / kWidth, kSums = Norm::kResidual ? 1 : 2;
  using V = Vector<kWidth, T>;
  using Floats = float[kWidth];
  const unsigned vectors = columns / kWidth, t = threadIdx.x % lanes, at_once = blockDim.x / lanes;
  const float n = static_cast<float>(columns);
  RowSums sum_over_row(lanes);
  float column_sums[kSums][kVectors][kWidth] = {};

  for (size_t first = size_t{blockIdx.x} * at_once; first < rows; first += size_t{gridDim.x} * at_once) {
    const size_t row = first + threadIdx.x / lanes, start = row * columns;
    // Calls function(j, i) for vector j of this thread, vector i of the row.
    const auto each = [&](auto function) {
#pragma unroll
      for (int j = 0; j < kVectors; ++j)
        if (row < rows && t + j * lanes < vectors) function(j, t + j * lanes);
    };
    V xs[kVectors], grads[kVectors], grad_sums[kVectors];
    const bool adds = Norm::kResidual && arrays.grad_sum;
    each([&](int j, unsigned i) {
      xs[j] = reinterpret_cast<const V*>(arrays.x + start)[i];
      grads[j] = reinterpret_cast<const V*>(arrays.grad + start)[i];
      if (adds) grad_sums[j] = reinterpret_cast<const V*>(arrays.grad_sum + start)[i];
    });

    float mean = 0.0f, inverse;
    if constexpr (!Norm::kResidual) {
      float sum[1] = {};
      each([&](int j, unsigned) {
        if constexpr (Norm::kReluFirst) relu_vector(xs[j]);
        Floats x;
        widen_vector(xs[j], x);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) sum[0] += x[k];
      });
      sum_over_row(sum);
      mean = sum[0] / n;
    }
    if constexpr (Norm::kReluLast) {  // which gradients it cuts off depends on `inverse`
      float squares[1] = {};
      each([&](int j, unsigned) {
        Floats x;
        widen_vector(xs[j], x);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) squares[0] += (x[k] - mean) * (x[k] - mean);
      });
      sum_over_row(squares);
      inverse = rsqrtf(squares[0] / n + epsilon);
    }

    float sums[3] = {};  // of g, g * (x - mean) and, where they are not known, (x - mean)^2
    each([&](int j, unsigned i) {
      Floats x, grad, weight;
      widen_vector(xs[j], x);
      widen_vector(grads[j], grad);
      load_vector(arrays.weight, i, weight);
      if constexpr (Norm::kReluLast) {
        Floats bias;
        load_vector(arrays.bias, i, bias);
#pragma unroll
        for (int k = 0; k < kWidth; ++k)
          grad[k] = passed_grad<Norm>(grad[k], (x[k] - mean) * inverse, weight[k], bias[k]);
        grads[j] = round_vector<T>(grad);  // as it was, or 0
      }
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        const float centred = x[k] - mean, g = grad[k] * weight[k];
        sums[0] += g;
        sums[1] += g * centred;
        if constexpr (!Norm::kReluLast) sums[2] += centred * centred;
      }
    });
    sum_over_row(sums);
    if constexpr (!Norm::kReluLast) inverse = rsqrtf(sums[2] / n + epsilon);
    const float mean_g = Norm::kResidual ? 0.0f : sums[0] / n, mean_gz = sums[1] * inverse / n;

    each([&](int j, unsigned i) {
      Floats x, grad, weight, added = {}, dx;
      widen_vector(xs[j], x);
      widen_vector(grads[j], grad);
      load_vector(arrays.weight, i, weight);
      if (adds) widen_vector(grad_sums[j], added);
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        const float z = (x[k] - mean) * inverse;
        column_sums[0][j][k] += grad[k] * z;
        if constexpr (kSums == 2) column_sums[1][j][k] += grad[k];
        dx[k] = inverse * (grad[k] * weight[k] - mean_g - z * mean_gz) + added[k];
        if (Norm::kReluFirst && x[k] <= 0.0f) dx[k] = 0.0f;
      }
      store_vector(arrays.dx + start, i, dx);
    });
  }

  float* partial = arrays.partial + size_t{blockIdx.x} * kSums * columns;
  if (lanes > 32) {  // a column belongs to one thread
#pragma unroll
    for (int s = 0; s < kSums; ++s)
#pragma unroll
      for (int j = 0; j < kVectors; ++j)
        if (t + j * lanes < vectors) store_vector(partial + s * columns, t + j * lanes, column_sums[s][j]);
    return;
  }
  // Rows that share a warp, and then the warps one after the other, so that the order is fixed
#pragma unroll
  for (int s = 0; s < kSums; ++s)
#pragma unroll
    for (int j = 0; j < kVectors; ++j)
#pragma unroll
      for (int k = 0; k < kWidth; ++k)
        for (unsigned distance = lanes; distance < 32; distance *= 2)
          column_sums[s][j][k] += __shfl_xor_sync(0xffffffffu, column_sums[s][j][k], distance);
  __shared__ alignas(32) float of_block[kSums][32 * Elements];
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) {
    if (threadIdx.x / 32 == warp && threadIdx.x % 32 < lanes) {
#pragma unroll
      for (int s = 0; s < kSums; ++s)
#pragma unroll
        for (int j = 0; j < kVectors; ++j) {
          Floats sum = {};
          if (warp > 0) load_vector(of_block[s], t + j * lanes, sum);
#pragma unroll
          for (int k = 0; k < kWidth; ++k) sum[k] += column_sums[s][j][k];
          store_vector(of_block[s], t + j * lanes, sum);
        }
    }
    __syncthreads();
  }
  for (unsigned i = threadIdx.x; i < kSums * columns; i += blockDim.x)
    partial[i] = of_block[i / columns][i % columns];
}

// --- Two reads ---

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

/// How the threads share rows that are read once: `lanes` for each, in `parts` blocks of `threads`.
struct GridAtOnce {
  int elements;
  unsigned lanes, threads, parts;

  GridAtOnce(int type, int rows, int columns) {
    const auto row_count = static_cast<unsigned>(rows), processors = static_cast<unsigned>(multiprocessors());
    // 16 elements where a warp would hold more rows than two, or where 32 do not keep the GPU busy
    const bool few = columns <= 256 || static_cast<size_t>(rows) * static_cast<size_t>(columns) <
                                           size_t{512} * kManyElements * processors;
    elements = few ? kFewElements : kManyElements;
    lanes = lanes_of(columns, elements, kMostColumns / elements);
    threads = block_threads(lanes);
    // A multiprocessor has registers for 512 threads of 128, or 384 of 168. A block has four steps or more,
    // because its sums are written and read, if that leaves no multiprocessor idle.
    const unsigned resident = (type == kFloat32 && !few ? 384 : 512) / threads * processors;
    const unsigned steps = (row_count - 1) / (threads / lanes) + 1;
    parts = std::min({steps, std::max(steps / 4, processors), resident});
  }
};

bool fits_at_once(int type, int columns) {
  return columns <= kMostColumns && columns % (type == kFloat32 ? kWidest<float> : kWidest<__half>) == 0;
}

template <class Norm, class T>
void launch_at_once(const Backward<T>& a, const WorkbookNormBackward& task) {
  const GridAtOnce grid(task.type, task.rows, task.columns);
  launch(grid.elements == kFewElements ? norm_backward_at_once<Norm, kFewElements, T>
                                       : norm_backward_at_once<Norm, kManyElements, T>,
         static_cast<unsigned>(task.parts), grid.threads, a, static_cast<unsigned>(task.rows),
         static_cast<unsigned>(task.columns), grid.lanes, task.epsilon);
}

template <class Norm, class T>
void launch_rows_and_columns(const Backward<T>& a, const WorkbookNormBackward& task, bool wide) {
  launch_rows(wide ? norm_backward<Norm, kWidest<T>, T> : norm_backward<Norm, 1, T>, a, task.rows,
              task.columns, task.epsilon);
  const unsigned tile = kLanes * (wide ? kWidest<T> : 1), columns = static_cast<unsigned>(task.columns);
  launch(wide ? norm_columns<Norm, kWidest<T>, T> : norm_columns<Norm, 1, T>,
         dim3((columns - 1) / tile + 1, static_cast<unsigned>(task.parts)), dim3(kLanes, kRows), a,
         static_cast<unsigned>(task.rows), columns);
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
  if (wide && fits_at_once(task.type, task.columns))
    launch_at_once<Norm>(a, task);
  else
    launch_rows_and_columns<Norm>(a, task, wide);
  launch_sum_parts(a.partial, out(task.dweight), out(task.dbias), task.parts, task.columns);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_norm_backward_cuda(const WorkbookNormBackward* task, void* stream) {
  return guarded(stream, [&] {
    with_norm(task->kind, [&]<class Norm>(Norm) {
      with_short_type<__half, __nv_bfloat16>(task->type,
                                             [&]<class T>(T*) { run_norm_backward<Norm, T>(*task); });
    });
  });
}

int workbook_norm_parts_cuda(const WorkbookNormBackward* task) {
  if (!fits_at_once(task->type, task->columns))
    return workbook_parts_cuda(task->type, task->rows, task->columns);
  return static_cast<int>(GridAtOnce(task->type, task->rows, task->columns).parts);
}
