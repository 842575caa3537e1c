/// \file
/// Quantisation to int8 on a GPU. Float32 arrays have the kernels of chapter 03: 05_corrected for one scale,
/// and 08_one_read for a scale per row where a row is long enough for a block and fits it. The kernels for
/// 16-bit elements and for all other rows are here, in the same form.
#include "../03_quantize_int8/05_corrected.cuh"
#include "../03_quantize_int8/08_one_read.cuh"
#include "rows.gpu.cuh"

namespace DEVICE::operators {

namespace stages = quantize_int8;

constexpr int kThreads = 256, kWide = 8;

/// q[i] = the int8 of x[i], one thread per kWide elements; any n, any alignment of the two arrays. Traffic:
/// reads 2 bytes and writes 1 byte per element.
template <class T>
__global__ void quantize_halves(const T* __restrict__ x, stages::Steps by, signed char* __restrict__ q,
                                int n) {
  const Split at = split<kWide>(n, x, q);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < at.vectors) {
    const auto from = reinterpret_cast<const Vector<kWide, T>*>(x + at.head)[thread];
    Vector<kWide, signed char> to;
#pragma unroll
    for (int j = 0; j < kWide; ++j) to.element[j] = stages::in_steps(to_float(from.element[j]), by);
    reinterpret_cast<Vector<kWide, signed char>*>(q + at.head)[thread] = to;
  }
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x)
    q[at.single(s)] = stages::in_steps(to_float(x[at.single(s)]), by);
}

template <class T>
struct Quantised {
  const T* x;
  signed char* q;
  float* scales;
};

/// The largest `value` of the threads that share a row, in each of them.
__device__ inline float largest(const Place& place, float value) {
  if (place.lanes > 32) return stages::block_largest_by_warps(value);
  for (unsigned distance = place.lanes / 2; distance > 0; distance /= 2)
    value = stages::larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
  return value;
}

/// scales[r] and q of row r. Vectors of Width elements: x, q and all rows begin at a multiple of their size.
/// Traffic: x is read once as far as a thread keeps its part of a row, q is written once.
template <int Width, class T>
__global__ void __launch_bounds__(kMostThreads)
    quantize_rows(Quantised<T> arrays, unsigned rows, unsigned columns, unsigned lanes) {
  const Place place(lanes);
  const size_t first = place.row * columns;
  const T* x = arrays.x + first;
  const auto load = [=](unsigned i, float(&v)[1][Width]) { load_vector(x, i, v[0]); };
  const Row<1, Width, decltype(load)> row(place, place.row < rows ? columns / Width : 0, load);
  float found = 0.0f;
  row.each([&](unsigned, const float(&v)[1][Width]) {
#pragma unroll
    for (int j = 0; j < Width; ++j) found = stages::larger(found, fabsf(v[0][j]));
  });
  const stages::Steps by = stages::steps_of(stages::scale_of(largest(place, found)), 0.0f);
  if (place.t == 0 && place.row < rows) arrays.scales[place.row] = by.scale;
  row.each([&](unsigned i, const float(&v)[1][Width]) {
    Vector<Width, signed char> steps;
#pragma unroll
    for (int j = 0; j < Width; ++j) steps.element[j] = stages::in_steps(v[0][j], by);
    reinterpret_cast<Vector<Width, signed char>*>(arrays.q + first)[i] = steps;
  });
}

// --- On the host ---

template <class T>
void run_quantize(const WorkbookQuantize& task) {
  const auto* x = static_cast<const T*>(task.x);
  const stages::Steps by = stages::steps_of(task.scale, task.zero_point);
  if constexpr (sizeof(T) == 4)
    launch(stages::corrected, ceil_div(task.n, 8 * stages::kCorrectedThreads), stages::kCorrectedThreads, x,
           by, task.q, task.n);
  else
    launch(quantize_halves<T>, ceil_div(task.n, kWide * kThreads), kThreads, x, by, task.q, task.n);
}

template <class T>
void run_quantize_rows(const WorkbookQuantizeRows& task) {
  const Quantised<T> a = {static_cast<const T*>(task.x), task.q, task.scales};
  if constexpr (sizeof(T) == 4)
    if (!is_short(task.columns) && stages::stays_on_chip(task.columns)) {
      return stages::launch_one_read(a.x, a.scales, a.q, task.rows, task.columns);
    }
  const bool wide = task.columns % kWidest<T> == 0 && are_aligned(a.x, a.q);
  launch_rows(wide ? quantize_rows<kWidest<T>, T> : quantize_rows<1, T>, a, task.rows, task.columns);
}

}  // namespace DEVICE::operators

using namespace DEVICE::operators;

int workbook_quantize_cuda(const WorkbookQuantize* task, void* stream) {
  return guarded(stream, [&] {
    with_short_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) { run_quantize<T>(*task); });
  });
}

int workbook_quantize_rows_cuda(const WorkbookQuantizeRows* task, void* stream) {
  return guarded(stream, [&] {
    with_short_type<__half, __nv_bfloat16>(task->type, [&]<class T>(T*) { run_quantize_rows<T>(*task); });
  });
}
