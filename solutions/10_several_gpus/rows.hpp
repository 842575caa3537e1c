/// \file
/// Shared by the exercises of this chapter that normalise rows: their arrays, shapes and references.
#pragma once
#include <math.h>

#include <type_traits>

#include "ceil_div.hpp"
#include "device.hpp"
#include "exercise.hpp"
#include "on_gpus.hpp"

namespace DEVICE::rows_on_gpus {

using workbook::Data;
using workbook::Shape;

/// A shape is GPUs, rows and columns.
inline int gpus(const Shape& s) { return s.dims[0]; }
inline long long rows(const Shape& s) { return s.dims[1]; }
inline long long columns(const Shape& s) { return s.dims[2]; }
inline long long elements(const Shape& s) { return rows(s) * columns(s); }
inline long long flags(const Shape& s) { return rows(s) * kMostGpus; }

constexpr double kEpsilon = 1e-5;

constexpr auto kProduct = workbook::input<float>("product", elements);
constexpr auto kResidual = workbook::input<float>("residual", elements);
constexpr auto kWeight = workbook::input<float>("weight", columns);
constexpr auto kX = workbook::scratch<float>("x", elements);
constexpr auto kFlags = workbook::state<unsigned>("flags", flags);

/// The array of each GPU.
template <class T>
OnGpus<T> on_gpus(const Data& d, const workbook::ArrayOf<std::remove_const_t<T>>& array) {
  OnGpus<T> all = {};
  for (int gpu = 0; gpu < gpus(d.shape); ++gpu) all.of[gpu] = d.of(array, gpu);
  return all;
}

/// "product" is what another kernel leaves in x. In every third row all numbers are so small that epsilon
/// matters.
inline void fill(const Data& host) {
  const Shape& s = host.shape;
  const auto shrink = [&](float* array) {
    for (long long i = 0; i < elements(s); ++i)
      if (i / columns(s) % 3 == 1) array[i] *= 1e-3f;
  };
  for (int gpu = 0; gpu < gpus(s); ++gpu) {
    float* const product = host.of(kProduct, gpu);
    workbook::fill_uniform(product, elements(s), -1.0f, 1.5f, 60u + static_cast<unsigned>(gpu));
    workbook::fill_uniform(host.of(kResidual, gpu), elements(s), -2.0f, 1.0f, 72);
    workbook::fill_uniform(host.of(kWeight, gpu), columns(s), 0.5f, 1.5f, 71);
    shrink(product);
    shrink(host.of(kResidual, gpu));
  }
}

/// A row of h, and what the absolute values of its terms add up to.
inline void reference_row(const Data& host, long long row, double* h, double* size) {
  const Shape& s = host.shape;
  const OnGpus<const float> product = on_gpus<const float>(host, kProduct);
  const float* const residual = host[kResidual];
  for (long long c = 0; c < columns(s); ++c) {
    const long long i = row * columns(s) + c;
    h[c] = residual[i];
    size[c] = fabs(h[c]);
    for (int gpu = 0; gpu < gpus(s); ++gpu) {
      h[c] += product.of[gpu][i];
      size[c] += fabs(product.of[gpu][i]);
    }
  }
}

/// The first GPU's results are those of the others, too.
inline void copy_to_gpus(const Shape& s, double* expected, double* magnitude) {
  for (long long i = elements(s); i < gpus(s) * elements(s); ++i) {
    expected[i] = expected[i - elements(s)];
    magnitude[i] = magnitude[i - elements(s)];
  }
}

inline void reference_h(const Data& host, double* expected, double* magnitude) {
  const long long c = columns(host.shape);
  for (long long r = 0; r < rows(host.shape); ++r)
    reference_row(host, r, expected + r * c, magnitude + r * c);
  copy_to_gpus(host.shape, expected, magnitude);
}

inline void reference_y(const Data& host, double* expected, double* magnitude) {
  const Shape& s = host.shape;
  const float* const weight = host[kWeight];
  for (long long r = 0; r < rows(s); ++r) {
    double *row = expected + r * columns(s), *size = magnitude + r * columns(s), squares = 0;
    reference_row(host, r, row, size);
    for (long long c = 0; c < columns(s); ++c) squares += row[c] * row[c];
    const double inverse = 1 / sqrt(squares / static_cast<double>(columns(s)) + kEpsilon);
    for (long long c = 0; c < columns(s); ++c) {
      const double factor = inverse * weight[c];
      row[c] *= factor;
      size[c] *= factor;
    }
  }
  copy_to_gpus(s, expected, magnitude);
}

/// The sum over the GPUs, that of the squares in any order, whose error is halved by the root, the root
/// itself, and what follows it.
inline int roundings(const Shape& s) {
  const int probable = 6 * static_cast<int>(ceil(sqrt(static_cast<double>(columns(s)))));
  return gpus(s) + (probable < columns(s) ? probable : s.dims[2]) / 2 + 24;
}

/// One GPU, more GPUs than rows, rows that no number of GPUs divides, and columns that are no multiple of a
/// warp or of a block. The last is for the budget.
constexpr Shape kShapes[] = {{{1, 1, 1}},   {{2, 1, 1}},    {{3, 5, 1}},    {{8, 5, 1}},    {{1, 5, 31}},
                             {{3, 2, 31}},  {{2, 3, 33}},   {{8, 1, 33}},   {{2, 5, 256}},  {{3, 4, 257}},
                             {{8, 2, 300}}, {{2, 4, 1000}}, {{4, 2, 2050}}, {{4, 16, 2048}}};

/// At the shapes before the last one, other kernels write x before the kernel that is judged and overwrite it
/// afterwards. At the last one, and where time is measured, that kernel is alone.
inline bool is_alone(const Shape& s) { return rows(s) > 5; }

/// The bytes of `times` calls of meet() by each of `blocks` blocks of each GPU: each sets its flag on each
/// GPU, and reads its own one, then all.
inline long long meetings(const Shape& s, long long blocks, int times) {
  return 32 * blocks * times * gpus(s);
}

// --- The kernels around the one that is judged ---

/// to[i] = from[i]
template <class T>
__global__ void copy(const T* from, T* to, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

/// to[i] = value
template <class T>
__global__ void overwrite(T* to, T value, long long count) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = value;
}

inline int blocks_of_elements(const Shape& s) { return static_cast<int>(ceil_div(elements(s), 256LL)); }

/// x of each GPU, for the kernel that is judged.
inline OnGpus<const float> x_on_gpus(const Data& d) {
  return on_gpus<const float>(d, is_alone(d.shape) ? kProduct : kX);
}

/// On each GPU, at the same time: writes x, calls judged(gpu), and calls after(gpu), which is to use what
/// `judged` leaves; then it overwrites x.
template <class Judged, class After>
void run_between(const Data& d, const Judged& judged, const After& after) {
  const Shape& s = d.shape;
  if (is_alone(s)) return on_each_gpu(gpus(s), judged);
  // As if an earlier layer had left it.
  on_each_gpu(gpus(s), [&](int gpu) {
    launch(overwrite<float>, blocks_of_elements(s), 256, d.of(kX, gpu), 9.0f, elements(s));
  });
  on_each_gpu(gpus(s), [&](int gpu) {
    launch(copy<float>, blocks_of_elements(s), 256, d.of(kProduct, gpu), d.of(kX, gpu), elements(s));
    judged(gpu);
    after(gpu);
    launch(overwrite<float>, blocks_of_elements(s), 256, d.of(kX, gpu), 9.0f, elements(s));
  });
}

}  // namespace DEVICE::rows_on_gpus
