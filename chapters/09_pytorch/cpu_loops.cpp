/// \file
/// The operators on the CPU: plain loops, which the compiler turns into vector instructions. They are not the
/// workbook's CPU device, which counts and is slow.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

// glibc's vector forms of these functions (libmvec) are at most 4 units in the last place off. g++ calls them
// in a loop only if the declarations say that they exist; glibc's own declarations say so under -ffast-math
// alone, which may not be used here: linked with it, a library turns off denormal numbers in the whole
// process.
#ifdef WORKBOOK_HAS_LIBMVEC
extern "C" {
__attribute__((simd("notinbranch"))) float erff(float) noexcept;
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept;
__attribute__((simd("notinbranch"))) double erf(double) noexcept;
__attribute__((simd("notinbranch"))) double exp(double) noexcept;
__attribute__((simd("notinbranch"))) double tanh(double) noexcept;
}
#endif
#include "formulas.hpp"
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace workbook_ops {
namespace {

constexpr int kChunk = 512;  // elements that are converted at a time: a few buffers of 4 KiB fit in L1

// --- 16-bit elements ---

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// What elements of type T are computed in.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
void widen(const T* from, T* to, int n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
}
void widen(const BFloat16* from, float* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i].bits} << 16);
}
#ifdef __F16C__
float widen_one(Half a) { return _cvtsh_ss(a.bits); }
Half narrow_one(float a) { return {_cvtss_sh(a, _MM_FROUND_TO_NEAREST_INT)}; }
#else
float widen_one(Half a) { return static_cast<float>(std::bit_cast<_Float16>(a)); }
Half narrow_one(float a) { return std::bit_cast<Half>(static_cast<_Float16>(a)); }
#endif

void widen(const Half* from, float* to, int n) {
  int i = 0;
#ifdef __F16C__  // g++ 12 does not use these instructions in a loop by itself
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; ++i) to[i] = widen_one(from[i]);
}

template <class T>
void narrow(const T* from, T* to, int n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
}
/// Rounds to the nearest, to even in the middle. A NaN becomes PyTorch's.
void narrow(const float* from, BFloat16* to, int n) {
  for (int i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    to[i].bits = static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
  }
}
void narrow(const float* from, Half* to, int n) {
  int i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = narrow_one(from[i]);
}

// --- One formula ---

/// Calls function(first, n, at) for runs of n elements of the range [begin, end) that stay inside one period,
/// whose element `at` is that of element `first`.
template <class Function>
void for_runs(int period, std::int64_t begin, std::int64_t end, Function function) {
  for (std::int64_t first = begin; first < end;) {
    const std::int64_t at = first % period, n = std::min(end - first, period - at);
    function(first, static_cast<int>(n), at);
    first += n;
  }
}

constexpr int kGroup = 16;  // elements: a multiple of every vector's width

/// The formula at n elements of arrays of C, a multiple of kGroup. Inlined, a loop of one group would become
/// scalar code, whose erf, exp and tanh round differently.
template <class Formula, class C>
[[gnu::noinline]] void compute_groups(const C* const (&from)[Formula::kInputs],
                                      C* const (&to)[Formula::kOutputs], int n) {
#ifndef __clang__
#pragma GCC ivdep  // results and inputs are different arrays
#endif
  for (int i = 0; i < n; ++i) {
    C in[Formula::kInputs], out[Formula::kOutputs];
    for (int k = 0; k < Formula::kInputs; ++k) in[k] = from[k][i];
    Formula::compute(in, out);
    for (int k = 0; k < Formula::kOutputs; ++k) to[k][i] = out[k];
  }
}

/// The formula at n elements of arrays of C. The last few are computed in a group of their own, by the same
/// vector instructions as all others: a result does not depend on where in an array its element is, nor on
/// how threads share the array.
template <class Formula, class C>
void compute(const C* const (&from)[Formula::kInputs], C* const (&to)[Formula::kOutputs], int n) {
  const int whole = n - n % kGroup, left = n - whole;
  compute_groups<Formula, C>(from, to, whole);
  if (left == 0) return;
  C in[Formula::kInputs][kGroup] = {}, out[Formula::kOutputs][kGroup];
  const C* last_from[Formula::kInputs];
  C* last_to[Formula::kOutputs];
  for (int k = 0; k < Formula::kInputs; ++k) {
    std::copy_n(from[k] + whole, left, in[k]);
    last_from[k] = in[k];
  }
  for (int k = 0; k < Formula::kOutputs; ++k) last_to[k] = out[k];
  compute_groups<Formula, C>(last_from, last_to, kGroup);
  for (int k = 0; k < Formula::kOutputs; ++k) std::copy_n(out[k], left, to[k] + whole);
}

/// The formula at the elements [first, first + n) of arrays of T, n <= kChunk. `values` receives the results
/// before they are rounded, as far as they are not in the arrays themselves; returns where they are.
template <class Formula, class T>
const Compute<T>* compute_chunk(const void* const* in, void* const* out, int period, std::int64_t first,
                                int n, Compute<T> (&values)[Formula::kOutputs][kChunk]) {
  using C = Compute<T>;
  C buffers[Formula::kInputs][kChunk];
  const C* from[Formula::kInputs];
  C* to[Formula::kOutputs];
  for (int k = 0; k < Formula::kInputs; ++k) {
    const T* array = static_cast<const T*>(in[k]);
    from[k] = buffers[k];
    if (Formula::kRepeats && k == Formula::kInputs - 1)
      for_runs(period, first, first + n, [&](std::int64_t start, int length, std::int64_t at) {
        widen(array + at, buffers[k] + (start - first), length);
      });
    else if constexpr (std::is_same_v<T, C>)
      from[k] = array + first;
    else
      widen(array + first, buffers[k], n);
  }
  for (int k = 0; k < Formula::kOutputs; ++k) {
    to[k] = values[k];
    if constexpr (std::is_same_v<T, C>) to[k] = static_cast<T*>(out[k]) + first;
  }
  compute<Formula, C>(from, to, n);
  if constexpr (!std::is_same_v<T, C>)
    for (int k = 0; k < Formula::kOutputs; ++k) narrow(values[k], static_cast<T*>(out[k]) + first, n);
  return to[0];
}

template <class Formula, class T>
void compute_range(const void* const* in, void* const* out, int period, std::int64_t begin,
                   std::int64_t end) {
  Compute<T> values[Formula::kOutputs][kChunk];
  for (std::int64_t first = begin; first < end; first += kChunk)
    compute_chunk<Formula, T>(in, out, period, first,
                              static_cast<int>(std::min<std::int64_t>(kChunk, end - first)), values);
}

// --- Column sums ---

template <class Formula, class T>
void compute_part(const WorkbookBiasGelu& task, int part) {
  using C = Compute<T>;
  const auto row = [&](int p) { return static_cast<std::int64_t>(task.rows) * p / task.parts; };
  const std::int64_t columns = task.columns, begin = row(part) * columns, end = row(part + 1) * columns;
  C* sums = static_cast<C*>(task.partial) + part * columns;
  std::fill(sums, sums + columns, C(0));

  const void* const in[] = {task.grad, task.x, task.bias};
  void* const out[] = {task.dx};
  C values[1][kChunk];
  for (std::int64_t first = begin; first < end; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, end - first));
    const C* dx = compute_chunk<Formula, T>(in, out, task.columns, first, n, values);
    for_runs(task.columns, first, first + n, [&](std::int64_t start, int length, std::int64_t at) {
      const C* terms = dx + (start - first);
      for (int i = 0; i < length; ++i) sums[at + i] += terms[i];
    });
  }
}

template <class T>
void add_parts(const WorkbookBiasGelu& task) {
  using C = Compute<T>;
  const C* partial = static_cast<const C*>(task.partial);
  for (std::int64_t first = 0; first < task.columns; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, task.columns - first));
    C sums[kChunk] = {};
    for (std::int64_t p = 0; p < task.parts; ++p)
      for (int i = 0; i < n; ++i) sums[i] += partial[p * task.columns + first + i];
    narrow(sums, static_cast<T*>(task.dbias) + first, n);
  }
}

}  // namespace
}  // namespace workbook_ops

using namespace workbook_ops;

void workbook_elementwise_cpu(int formula, int type, const void* const* in, void* const* out, int period,
                              int begin, int end) {
  with_formula(formula, [&](auto chosen) {
    with_type<Half, BFloat16>(
        type, [&]<class T>(T*) { compute_range<decltype(chosen), T>(in, out, period, begin, end); });
  });
}

void workbook_bias_gelu_part_cpu(const WorkbookBiasGelu* task, int part) {
  with_type<Half, BFloat16>(task->type, [&]<class T>(T*) {
    if (task->use_tanh)
      compute_part<BiasGeluTanhBackward, T>(*task, part);
    else
      compute_part<BiasGeluBackward, T>(*task, part);
  });
}

void workbook_bias_gelu_sum_cpu(const WorkbookBiasGelu* task) {
  with_type<Half, BFloat16>(task->type, [&]<class T>(T*) { add_parts<T>(*task); });
}

#ifndef WORKBOOK_OPS_CUDA
int workbook_has_cuda() { return 0; }
const char* workbook_error() { return ""; }
#endif
