/// \file
/// The operators that reduce one dimension, on the CPU: plain loops, which the compiler turns into vector
/// instructions.
#include "cpu_elements.hpp"
#include "reductions.hpp"

namespace workbook_ops {
namespace {

constexpr std::int64_t kRowsAtOnce = 256;  // that are added up in the arrays' own precision
constexpr int kShortRow = 64;              // several shorter rows are taken as one

/// The sum of the terms of n floats or doubles.
template <class Reduction, class C>
C sum_terms(const C* v, int n) {
  C sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += Reduction::term(v[i]);
  return sum;
}

/// The sum of the terms of n neighbouring elements.
template <class Reduction, class T>
double sum_row(const T* x, std::int64_t n) {
  Compute<T> buffer[kRowChunk];
  double sum = 0;
  for_chunks(n, [&](std::int64_t at, int length) {
    sum += sum_terms<Reduction>(floats_of(x + at, buffer, length), length);
  });
  return sum;
}

/// totals[i] = the sum of the terms of `columns` neighbouring elements of row i; n rows, which are `apart`
/// elements apart.
template <class Reduction, class T>
void sum_rows(const T* x, std::int64_t columns, std::int64_t apart, int n, double* totals) {
  if (columns > kShortRow || columns != apart) {
    for (int i = 0; i < n; ++i) totals[i] = sum_row<Reduction>(x + i * apart, columns);
    return;
  }
  Compute<T> buffer[kRowChunk];
  const int length = static_cast<int>(columns), together = kRowChunk / length;
  for (int first = 0; first < n; first += together) {
    const int rows = std::min(together, n - first);
    const Compute<T>* v = floats_of(x + first * columns, buffer, rows * length);
    for (int i = 0; i < rows; ++i) totals[first + i] = sum_terms<Reduction>(v + i * length, length);
  }
}

/// totals[i] = the sum of the terms of column i of `rows` rows, which are `apart` elements apart; n columns,
/// all of them if the rows are short.
template <class Reduction, class T>
void sum_columns(const T* x, std::int64_t rows, std::int64_t apart, int n, double* totals) {
  using C = Compute<T>;
  C buffer[kRowChunk], sums[kRowChunk];
  std::fill_n(totals, n, 0.0);
  const int together = static_cast<int>(std::clamp<std::int64_t>(kShortRow / apart, 1, rows));
  const int width = together * n;
  for (std::int64_t first = 0; first < rows; first += kRowsAtOnce * together) {
    std::fill_n(sums, width, C(0));
    const std::int64_t end = std::min(rows, first + kRowsAtOnce * together);
    for (std::int64_t r = first; r < end; r += together) {
      const int elements = static_cast<int>(std::min<std::int64_t>(together, end - r)) * n;
      const C* v = floats_of(x + r * apart, buffer, elements);
#pragma omp simd
      for (int i = 0; i < elements; ++i) sums[i] += Reduction::term(v[i]);
    }
    for (int row = 0; row < width; row += n)
      for (int i = 0; i < n; ++i) totals[i] += sums[row + i];
  }
}

template <class Reduction>
std::int64_t divisor_of(int size) {
  return Reduction::kMean ? size : 1;
}

/// Lines of one element are one row.
std::int64_t row_of(const WorkbookReduction& task) {
  return task.size == 1 ? std::int64_t{task.outer} * task.inner : task.inner;
}

/// Part `part` of the lines [line, line + n), n <= kRowChunk, which are neighbours.
template <class Reduction, class T>
void reduce_lines(const WorkbookReduction& task, int part, std::int64_t line, int n) {
  using C = Compute<T>;
  const std::int64_t inner = row_of(task), lines = std::int64_t{task.outer} * task.inner;
  const std::int64_t first = first_row(task.size, task.parts, part);
  const std::int64_t rows = first_row(task.size, task.parts, part + 1) - first;
  const std::int64_t column = line % inner;
  const T* x = static_cast<const T*>(task.x) + (line / inner * task.size + first) * inner;
  double totals[kRowChunk];
  const double* wanted = totals;
  if (inner == 1) {
    sum_rows<Reduction>(x, rows, task.size, n, totals);
  } else if (inner <= kShortRow) {  // in one order, however threads share the columns
    sum_columns<Reduction>(x, rows, inner, static_cast<int>(inner), totals);
    wanted += column;
  } else {
    sum_columns<Reduction>(x + column, rows, inner, n, totals);
  }

  C sums[kRowChunk];
  const double divisor = task.parts == 1 ? static_cast<double>(divisor_of<Reduction>(task.size)) : 1;
  for (int i = 0; i < n; ++i) sums[i] = static_cast<C>(wanted[i] / divisor);
  if (task.parts == 1)
    narrow(sums, static_cast<T*>(task.out) + line, n);
  else
    std::copy_n(sums, n, static_cast<C*>(task.partial) + part * lines + line);
}

template <class Reduction, class T>
void reduce_range(const WorkbookReduction& task, int begin, int end) {
  const std::int64_t lines = std::int64_t{task.outer} * task.inner;
  const std::int64_t run = row_of(task) == 1 ? lines : row_of(task);
  for_runs(lines, begin, end, [&](std::int64_t sum, int of_part, std::int64_t line) {
    const int part = static_cast<int>(sum / lines);
    for_runs(run, line, line + of_part, [&](std::int64_t start, int neighbours, std::int64_t) {
      for_chunks(neighbours,
                 [&](std::int64_t at, int n) { reduce_lines<Reduction, T>(task, part, start + at, n); });
    });
  });
}

/// dx of n neighbouring elements from `first` on; grads[i] is the gradient of the line of element i.
template <class Reduction, class T>
void backward_chunk(const WorkbookReductionBackward& task, const Compute<T>* grads, std::int64_t first,
                    int n) {
  using C = Compute<T>;
  C buffer[kRowChunk], results[kRowChunk];
  const C divisor = static_cast<C>(divisor_of<Reduction>(task.size));
  const C* v = floats_of(static_cast<const T*>(task.x) + first, buffer, n);
  T* out = static_cast<T*>(task.dx) + first;
  C* dx = floats_for(out, results);
#pragma omp simd
  for (int i = 0; i < n; ++i) dx[i] = grads[i] / divisor * Reduction::slope(v[i]);
  store_floats(dx, out, n);
}

/// Planes of a few elements: the gradients are repeated for a chunk of whole planes.
template <class Reduction, class T>
void backward_short_planes(const WorkbookReductionBackward& task, std::int64_t begin, std::int64_t end) {
  using C = Compute<T>;
  C buffer[kRowChunk], repeated[kRowChunk];
  const int inner = task.inner, size = task.size, plane = inner * size, whole = kRowChunk / plane * plane;
  for (std::int64_t first = begin; first < end;) {
    const int at = static_cast<int>(first % plane);
    const int n = static_cast<int>(std::min<std::int64_t>(end - first, whole - at));
    const int planes = (at + n + plane - 1) / plane;
    const T* grad = static_cast<const T*>(task.grad) + first / plane * inner;
    const C* grads = floats_of(grad, buffer, planes * inner);
    if (inner == 1)
      repeat_each(grads, planes, size, repeated);
    else
      for (int p = 0; p < planes; ++p) repeat(grads + p * inner, inner, 0, repeated + p * plane, plane);
    backward_chunk<Reduction, T>(task, repeated + at, first, n);
    first += n;
  }
}

/// Where the gradients of a row of lines fit a chunk, they are repeated for a chunk of whole rows.
template <class Reduction, class T>
void backward_short_rows(const WorkbookReductionBackward& task, std::int64_t begin, std::int64_t end) {
  using C = Compute<T>;
  C buffer[kRowChunk], repeated[kRowChunk];
  const std::int64_t inner = task.inner, plane = inner * task.size, whole = kRowChunk / inner * inner;
  for_runs(plane, begin, end, [&](std::int64_t first, std::int64_t length, std::int64_t at) {
    const T* grad = static_cast<const T*>(task.grad) + first / plane * inner;
    repeat(floats_of(grad, buffer, task.inner), inner, at % inner, repeated, std::min(length, whole));
    for (std::int64_t done = 0; done < length; done += whole)
      backward_chunk<Reduction, T>(task, repeated, first + done,
                                   static_cast<int>(std::min(whole, length - done)));
  });
}

template <class Reduction, class T>
void backward_long_rows(const WorkbookReductionBackward& task, std::int64_t begin, std::int64_t end) {
  Compute<T> buffer[kRowChunk];
  const std::int64_t inner = task.inner, plane = inner * task.size;
  for_runs(inner, begin, end, [&](std::int64_t first, int length, std::int64_t column) {
    const T* grad = static_cast<const T*>(task.grad) + first / plane * inner + column;
    for_chunks(length, [&](std::int64_t at, int n) {
      backward_chunk<Reduction, T>(task, floats_of(grad + at, buffer, n), first + at, n);
    });
  });
}

}  // namespace
}  // namespace workbook_ops

using namespace workbook_ops;

void workbook_reduction_cpu(const WorkbookReduction* task, int begin, int end) {
  with_reduction(task->kind, [&]<class Reduction>(Reduction) {
    with_type<Half, BFloat16>(task->type,
                              [&]<class T>(T*) { reduce_range<Reduction, T>(*task, begin, end); });
  });
}

void workbook_reduction_sum_cpu(const WorkbookReduction* task) {
  if (task->parts == 1) return;
  const std::int64_t lines = std::int64_t{task->outer} * task->inner;
  with_reduction(task->kind, [&]<class Reduction>(Reduction) {
    with_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
      using C = Compute<T>;
      sum_parts(static_cast<const C*>(task->partial), task->parts, lines, lines, static_cast<T*>(task->out),
                static_cast<C>(divisor_of<Reduction>(task->size)));
    });
  });
}

void workbook_reduction_backward_cpu(const WorkbookReductionBackward* task, int begin, int end) {
  with_reduction(task->kind, [&]<class Reduction>(Reduction) {
    with_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
      if (std::int64_t{task->inner} * task->size <= kShortRow)
        backward_short_planes<Reduction, T>(*task, begin, end);
      else if (task->inner <= kRowChunk)
        backward_short_rows<Reduction, T>(*task, begin, end);
      else
        backward_long_rows<Reduction, T>(*task, begin, end);
    });
  });
}
