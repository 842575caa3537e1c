/// \file
/// Quantisation to int8 on the CPU: plain loops, which the compiler turns into vector instructions. The
/// formula of an element is that of chapter 03's quantize.cuh, as on a GPU.
#include "../03_quantize_int8/quantize.cuh"
#include "cpu_elements.hpp"

namespace workbook_ops {
namespace {

namespace stages = host::quantize_int8;

void quantize(const float* x, float scale, float zero_point, signed char* q, int n) {
#pragma omp simd
  for (int i = 0; i < n; ++i) q[i] = stages::to_int8(stages::quantized(x[i], scale, zero_point));
}

template <class T>
void quantize_range(const void* x, float scale, float zero_point, signed char* q, std::int64_t begin,
                    std::int64_t end) {
  float buffer[kRowChunk];
  for_chunks(end - begin, [&](std::int64_t at, int n) {
    const float* values = floats_of(static_cast<const T*>(x) + begin + at, buffer, n);
    quantize(values, scale, zero_point, q + begin + at, n);
  });
}

/// The largest absolute value of the elements [begin, end).
template <class T>
float largest_of(const void* x, std::int64_t begin, std::int64_t end) {
  float buffer[kRowChunk], largest = 0;
  for_chunks(end - begin, [&](std::int64_t at, int n) {
    const float* values = floats_of(static_cast<const T*>(x) + begin + at, buffer, n);
    float of_chunk = 0;
#pragma omp simd reduction(max : of_chunk)
    for (int i = 0; i < n; ++i) of_chunk = stages::larger(of_chunk, fabsf(values[i]));
    largest = stages::larger(largest, of_chunk);
  });
  return largest;
}

template <class T>
void quantize_short_rows(const WorkbookQuantizeRows& task, int begin, int end) {
  const int columns = task.columns, together = rows_of_batch(columns);
  float buffer[kBatch], largest[kBatch], scales[kBatch];
  for (; begin < end; begin += together) {
    const int rows = std::min(together, end - begin), n = rows * columns;
    const std::int64_t first = std::int64_t{begin} * columns;
    const float* x = floats_of(static_cast<const T*>(task.x) + first, buffer, n);
    std::fill_n(largest, rows, 0.0f);
    for (int c = 0; c < columns; ++c)
#pragma omp simd
      for (int r = 0; r < rows; ++r) largest[r] = stages::larger(largest[r], fabsf(x[r * columns + c]));
    for (int r = 0; r < rows; ++r) task.scales[begin + r] = stages::scale_of(largest[r]);
    repeat_each(task.scales + begin, rows, columns, scales);
    signed char* q = task.q + first;
#pragma omp simd
    for (int i = 0; i < n; ++i) q[i] = stages::to_int8(stages::quantized(x[i], scales[i], 0));
  }
}

template <class T>
void quantize_rows(const WorkbookQuantizeRows& task, int begin, int end) {
  if (task.columns <= kBatchedRow) return quantize_short_rows<T>(task, begin, end);
  for (; begin < end; ++begin) {
    const std::int64_t first = std::int64_t{begin} * task.columns, last = first + task.columns;
    const float scale = stages::scale_of(largest_of<T>(task.x, first, last));
    task.scales[begin] = scale;
    quantize_range<T>(task.x, scale, 0, task.q, first, last);
  }
}

}  // namespace
}  // namespace workbook_ops

using namespace workbook_ops;

void workbook_quantize_cpu(const WorkbookQuantize* task, int begin, int end) {
  with_short_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
    quantize_range<T>(task->x, task->scale, task->zero_point, task->q, begin, end);
  });
}

void workbook_quantize_rows_cpu(const WorkbookQuantizeRows* task, int begin, int end) {
  with_short_type<Half, BFloat16>(task->type, [&]<class T>(T*) { quantize_rows<T>(*task, begin, end); });
}
