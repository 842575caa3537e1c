/// \file
/// The operators that normalise rows, on the CPU: plain loops, which the compiler turns into vector
/// instructions. `omp simd` lets it add up a row in any order; there are no OpenMP threads.
#include <cmath>
#include <vector>

#include "cpu_elements.hpp"
#include "norms.hpp"

namespace workbook_ops {
namespace {

/// An array's elements as floats; those of the last call are kept.
template <class T>
class Floats {
 public:
  const float* operator()(const void* array, std::int64_t first, int n) {
    const T* from = static_cast<const T*>(array) + first;
    if (from != kept_) floats_ = floats_of(from, buffer_, n);
    kept_ = from;
    return floats_;
  }

 private:
  float buffer_[kRowChunk];
  const T* kept_ = nullptr;
  const float* floats_ = nullptr;
};

/// A weight or a bias as floats; null stays null. One whose floats fit in L2 is converted once for all rows,
/// a longer one chunk by chunk.
template <class T>
class Parameter {
 public:
  Parameter(const void* array, int columns) : array_(static_cast<const T*>(array)) {
    if (std::is_same_v<T, float> || !array || columns > kConvertedOnce) return;
    converted_.resize(static_cast<std::size_t>(columns));
    widen(array_, converted_.data(), columns);
  }
  const float* from(std::int64_t column, int n) {
    if (!converted_.empty()) return converted_.data() + column;
    return array_ ? floats_of(array_ + column, buffer_, n) : nullptr;
  }

 private:
  static constexpr int kConvertedOnce = 1 << 17;  // floats, 512 KiB
  const T* array_;
  std::vector<float> converted_;
  float buffer_[kChunk];
};

/// for_chunks() for a norm. A row of several chunks is converted in each pass, so its chunks are short: those
/// of all arrays fit in L1.
template <class Function>
void for_norm_chunks(int columns, Function function) {
  for_chunks(columns, function, columns <= kRowChunk ? kRowChunk : kChunk);
}

template <class Norm>
float input(float v) {
  return Norm::kReluFirst && v < 0 ? 0.0f : v;
}

struct Moments {
  float mean, inverse;
};

/// The mean of a row's inputs, 0 where none is subtracted, and 1 / sqrt(variance + epsilon). `values` gives
/// the elements of a chunk. Each chunk has a mean of its own; those of all chunks are put together in double.
template <class Norm, class Values>
Moments moments_of(int columns, float epsilon, Values values) {
  double mean = 0, squares = 0;
  for_norm_chunks(columns, [&](std::int64_t at, int n) {
    const float* v = values(at, n);
    float sum = 0, of_chunk = 0;
    if constexpr (!Norm::kResidual)
#pragma omp simd reduction(+ : sum)
      for (int i = 0; i < n; ++i) sum += input<Norm>(v[i]);
    const float middle = sum / static_cast<float>(n);
#pragma omp simd reduction(+ : of_chunk)
    for (int i = 0; i < n; ++i) {
      const float distance = input<Norm>(v[i]) - middle;
      of_chunk += distance * distance;
    }
    const double apart = middle - mean, share = static_cast<double>(n) / static_cast<double>(at + n);
    mean += apart * share;
    squares += of_chunk + apart * apart * share * static_cast<double>(at);
  });
  return {static_cast<float>(mean), 1 / std::sqrt(static_cast<float>(squares / columns) + epsilon)};
}

/// Numbers of the elements of a batch.
using Batch = float[kBatch];

/// A weight or a bias, repeated for the rows of a batch; nothing if it is null.
template <class T>
void repeat_parameter(const void* parameter, int columns, float* to) {
  Batch buffer;
  if (parameter)
    repeat(floats_of(static_cast<const T*>(parameter), buffer, columns), columns, 0, to,
           rows_of_batch(columns) * columns);
}

/// z = (input - mean) * inverse for the elements of a batch, and the inverse of each one's row.
template <class Norm>
void normalise_batch(const float* v, int rows, int columns, float epsilon, float* z, float* inverses) {
  const int n = rows * columns;
  Batch of_rows, terms;
  if constexpr (!Norm::kResidual) {
#pragma omp simd
    for (int i = 0; i < n; ++i) terms[i] = input<Norm>(v[i]);
    sum_rows_of_batch(terms, rows, columns, of_rows);
    for (int r = 0; r < rows; ++r) of_rows[r] /= static_cast<float>(columns);
    repeat_each(of_rows, rows, columns, terms);
  }
#pragma omp simd
  for (int i = 0; i < n; ++i) {
    z[i] = Norm::kResidual ? v[i] : input<Norm>(v[i]) - terms[i];
    terms[i] = z[i] * z[i];
  }
  sum_rows_of_batch(terms, rows, columns, of_rows);
  for (int r = 0; r < rows; ++r)
    of_rows[r] = 1 / std::sqrt(of_rows[r] / static_cast<float>(columns) + epsilon);
  repeat_each(of_rows, rows, columns, inverses);
#pragma omp simd
  for (int i = 0; i < n; ++i) z[i] *= inverses[i];
}

// --- Forward ---

/// The result of the normalised element i.
template <class Norm>
float result_of(float z, const float* weight, const float* bias, int i) {
  float result = z * weight[i];
  if constexpr (!Norm::kResidual) result += bias[i];
  return Norm::kReluLast && result < 0 ? 0.0f : result;
}

/// sum = x + residual, rounded, for n elements.
template <class T>
void add_residual(const WorkbookNorm& task, std::int64_t first, std::int64_t count) {
  float buffers[3][kRowChunk];
  for_chunks(count, [&](std::int64_t at, int n) {
    const float* x = floats_of(static_cast<const T*>(task.x) + first + at, buffers[0], n);
    const float* residual = floats_of(static_cast<const T*>(task.residual) + first + at, buffers[1], n);
    T* out = static_cast<T*>(task.sum) + first + at;
    float* sum = floats_for(out, buffers[2]);
#pragma omp simd
    for (int i = 0; i < n; ++i) sum[i] = x[i] + residual[i];
    store_floats(sum, out, n);
  });
}

template <class Norm, class T>
void norm_short_rows(const WorkbookNorm& task, int begin, int end) {
  const int columns = task.columns, together = rows_of_batch(columns);
  Batch weight, bias, buffer, z, inverses, results;
  repeat_parameter<T>(task.weight, columns, weight);
  repeat_parameter<T>(task.bias, columns, bias);
  for (; begin < end; begin += together) {
    const int rows = std::min(together, end - begin), n = rows * columns;
    const std::int64_t first = std::int64_t{begin} * columns;
    if constexpr (Norm::kResidual) add_residual<T>(task, first, n);
    const T* from = static_cast<const T*>(Norm::kResidual ? task.sum : task.x) + first;
    normalise_batch<Norm>(floats_of(from, buffer, n), rows, columns, task.epsilon, z, inverses);
    T* out = static_cast<T*>(task.y) + first;
    float* y = floats_for(out, results);
#pragma omp simd
    for (int i = 0; i < n; ++i) y[i] = result_of<Norm>(z[i], weight, bias, i);
    store_floats(y, out, n);
  }
}

template <class Norm, class T>
void norm_rows(const WorkbookNorm& task, int begin, int end) {
  if (task.columns <= kBatchedRow) return norm_short_rows<Norm, T>(task, begin, end);
  Floats<T> x;
  Parameter<T> weights(task.weight, task.columns), biases(task.bias, task.columns);
  float buffer[kRowChunk];
  for (std::int64_t row = std::int64_t{begin} * task.columns; begin < end; ++begin, row += task.columns) {
    if constexpr (Norm::kResidual) add_residual<T>(task, row, task.columns);
    const auto values = [&](std::int64_t at, int n) {
      return x(Norm::kResidual ? task.sum : task.x, row + at, n);
    };
    const auto [mean, inverse] = moments_of<Norm>(task.columns, task.epsilon, values);
    for_norm_chunks(task.columns, [&, mean = mean, inverse = inverse](std::int64_t at, int n) {
      const float *v = values(at, n), *weight = weights.from(at, n), *bias = biases.from(at, n);
      T* out = static_cast<T*>(task.y) + row + at;
      float* y = floats_for(out, buffer);
#pragma omp simd
      for (int i = 0; i < n; ++i)
        y[i] = result_of<Norm>((input<Norm>(v[i]) - mean) * inverse, weight, bias, i);
      store_floats(y, out, n);
    });
  }
}

// --- Backward ---

struct Sources {
  const float *x, *grad, *weight, *bias;
};

/// The gradient of the normalised element i, before any ReLU that comes last.
template <class Norm>
float passed_grad(const Sources& from, int i, float z) {
  const float grad = from.grad[i];
  return Norm::kReluLast && z * from.weight[i] + from.bias[i] <= 0 ? 0.0f : grad;
}

/// For a row with z = (input - mean) * inverse and g = grad * weight, the gradient of
/// the input is inverse * (g - mean(g) - z * mean(g * z)), without mean(g) if no mean is subtracted. Where
/// ReLU comes last, grad is 0 where it cut the result off; where it comes first, so is the gradient of x.
template <class Norm, class T>
void norm_backward_short_rows(const WorkbookNormBackward& task, std::int64_t begin, std::int64_t end,
                              float* dweight, float* dbias) {
  const int columns = task.columns, together = rows_of_batch(columns);
  Batch weight, bias, dw = {}, db = {}, buffers[3], z, inverses, g, gz, of_rows, mean_g = {}, mean_gz;
  repeat_parameter<T>(task.weight, columns, weight);
  repeat_parameter<T>(task.bias, columns, bias);
  for (; begin < end; begin += together) {
    const int rows = static_cast<int>(std::min<std::int64_t>(together, end - begin)), n = rows * columns;
    const std::int64_t first = begin * columns;
    const auto floats = [&](const void* array, float* buffer) {
      return floats_of(static_cast<const T*>(array) + first, buffer, n);
    };
    const Sources from = {floats(task.x, buffers[0]), floats(task.grad, buffers[1]), weight, bias};
    normalise_batch<Norm>(from.x, rows, columns, task.epsilon, z, inverses);
#pragma omp simd
    for (int i = 0; i < n; ++i) {
      const float passed = passed_grad<Norm>(from, i, z[i]);
      dw[i] += passed * z[i];
      db[i] += passed;
      g[i] = passed * weight[i];
      gz[i] = g[i] * z[i];
    }
    const auto mean_of = [&](const float* terms, float* means) {
      sum_rows_of_batch(terms, rows, columns, of_rows);
      for (int r = 0; r < rows; ++r) of_rows[r] /= static_cast<float>(columns);
      repeat_each(of_rows, rows, columns, means);
    };
    if constexpr (!Norm::kResidual) mean_of(g, mean_g);
    mean_of(gz, mean_gz);
    T* out = static_cast<T*>(task.dx) + first;
    float* dx = floats_for(out, buffers[1]);
    const float* added = task.grad_sum ? floats(task.grad_sum, buffers[2]) : nullptr;
#pragma omp simd
    for (int i = 0; i < n; ++i) {
      const float slope = inverses[i] * (g[i] - mean_g[i] - z[i] * mean_gz[i]);
      dx[i] = Norm::kReluFirst && from.x[i] <= 0 ? 0.0f : slope;
    }
    if (added)
#pragma omp simd
      for (int i = 0; i < n; ++i) dx[i] += added[i];
    store_floats(dx, out, n);
  }
  for (int i = 0; i < together * columns; ++i) {
    dweight[i % columns] += dw[i];
    dbias[i % columns] += db[i];
  }
}

/// The rows of one part.
template <class Norm, class T>
void norm_backward_part(const WorkbookNormBackward& task, int part) {
  const int columns = task.columns;
  float* dweight = static_cast<float*>(task.partial) + std::int64_t{2} * part * columns;
  float* dbias = dweight + columns;
  std::fill(dweight, dbias + columns, 0.0f);
  if (columns <= kBatchedRow)
    return norm_backward_short_rows<Norm, T>(task, first_row(task.rows, task.parts, part),
                                             first_row(task.rows, task.parts, part + 1), dweight, dbias);
  Floats<T> x, grads, grad_sums;
  Parameter<T> weights(task.weight, columns), biases(task.bias, columns);
  float z[kRowChunk], g[kRowChunk], buffer[kRowChunk];

  const std::int64_t end = first_row(task.rows, task.parts, part + 1);
  for (std::int64_t r = first_row(task.rows, task.parts, part); r < end; ++r) {
    const std::int64_t row = r * columns;
    const auto values = [&](std::int64_t at, int n) { return x(task.x, row + at, n); };
    const Moments moments = moments_of<Norm>(columns, task.epsilon, values);
    const float mean = moments.mean, inverse = moments.inverse;

    const auto sources = [&](std::int64_t at, int n) {
      return Sources{values(at, n), grads(task.grad, row + at, n), weights.from(at, n), biases.from(at, n)};
    };
    double sum = 0, products = 0;
    for_norm_chunks(columns, [&](std::int64_t at, int n) {
      const Sources from = sources(at, n);
      float *dw = dweight + at, *db = dbias + at, of_chunk = 0, products_of_chunk = 0;
#pragma omp simd reduction(+ : of_chunk, products_of_chunk)
      for (int i = 0; i < n; ++i) {
        z[i] = (input<Norm>(from.x[i]) - mean) * inverse;
        const float passed = passed_grad<Norm>(from, i, z[i]);
        dw[i] += passed * z[i];
        if constexpr (!Norm::kResidual) db[i] += passed;
        g[i] = passed * from.weight[i];
        of_chunk += g[i];
        products_of_chunk += g[i] * z[i];
      }
      sum += of_chunk;
      products += products_of_chunk;
    });
    const float mean_g = Norm::kResidual ? 0.0f : static_cast<float>(sum / columns);
    const float mean_gz = static_cast<float>(products / columns);

    for_norm_chunks(columns, [&](std::int64_t at, int n) {
      const float* v = values(at, n);
      const float* added = Norm::kResidual && task.grad_sum ? grad_sums(task.grad_sum, row + at, n) : nullptr;
      T* out = static_cast<T*>(task.dx) + row + at;
      float* dx = floats_for(out, buffer);
      const auto slope = [=](float v, float z, float g) {
        return Norm::kReluFirst && v <= 0 ? 0.0f : inverse * (g - mean_g - z * mean_gz);
      };
      if (columns <= kRowChunk) {
#pragma omp simd
        for (int i = 0; i < n; ++i) dx[i] = slope(v[i], z[i], g[i]);
      } else {  // z and g are those of the last chunk
        const Sources from = sources(at, n);
#pragma omp simd
        for (int i = 0; i < n; ++i) {
          const float normalised = (input<Norm>(v[i]) - mean) * inverse;
          dx[i] = slope(v[i], normalised, passed_grad<Norm>(from, i, normalised) * from.weight[i]);
        }
      }
      if (added)
#pragma omp simd
        for (int i = 0; i < n; ++i) dx[i] += added[i];
      store_floats(dx, out, n);
    });
  }
}

}  // namespace
}  // namespace workbook_ops

using namespace workbook_ops;

void workbook_norm_cpu(const WorkbookNorm* task, int begin, int end) {
  with_norm(task->kind, [&]<class Norm>(Norm) {
    with_short_type<Half, BFloat16>(task->type, [&]<class T>(T*) { norm_rows<Norm, T>(*task, begin, end); });
  });
}

void workbook_norm_backward_part_cpu(const WorkbookNormBackward* task, int part) {
  with_norm(task->kind, [&]<class Norm>(Norm) {
    with_short_type<Half, BFloat16>(task->type,
                                    [&]<class T>(T*) { norm_backward_part<Norm, T>(*task, part); });
  });
}

void workbook_norm_backward_sum_cpu(const WorkbookNormBackward* task) {
  const std::int64_t columns = task->columns, apart = 2 * columns;
  const float* partial = static_cast<const float*>(task->partial);
  with_short_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
    sum_parts(partial, task->parts, apart, columns, static_cast<T*>(task->dweight));
    if (task->dbias) sum_parts(partial + columns, task->parts, apart, columns, static_cast<T*>(task->dbias));
  });
}
