/// \file
/// For the loops of the CPU: elements of 16 bits as floats and back, rows in chunks, and sums of columns.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "types.hpp"
#if defined __F16C__ || defined __AVX2__
#include <immintrin.h>
#endif

namespace workbook_ops {

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
inline void widen(const BFloat16* from, float* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = std::bit_cast<float>(std::uint32_t{from[i].bits} << 16);
}
#ifdef __F16C__
inline float widen_one(Half a) { return _cvtsh_ss(a.bits); }
inline Half narrow_one(float a) { return {_cvtss_sh(a, _MM_FROUND_TO_NEAREST_INT)}; }
#else
inline float widen_one(Half a) { return static_cast<float>(std::bit_cast<_Float16>(a)); }
inline Half narrow_one(float a) { return std::bit_cast<Half>(static_cast<_Float16>(a)); }
#endif

inline void widen(const Half* from, float* to, int n) {
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
inline void narrow(const float* from, BFloat16* to, int n) {
  for (int i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    to[i].bits = static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
  }
}
inline void narrow(const float* from, Half* to, int n) {
  int i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i) to[i] = narrow_one(from[i]);
}

/// to[i] = table[the bits of from[i]], for 16-bit elements.
template <class T>
void look_up(const float* table, const T* from, float* to, int n) {
  int i = 0;
#ifdef __AVX2__  // g++ 12 does not use this instruction in a loop by itself
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_i32gather_ps(table, _mm256_cvtepu16_epi32(bits), 4));
  }
#endif
  for (; i < n; ++i) to[i] = table[from[i].bits];
}

// --- Arrays of floats and doubles are used where they are ---

/// n elements as floats, in the buffer unless they are floats. Doubles stay doubles.
template <class T>
const float* floats_of(const T* from, float* buffer, int n) {
  widen(from, buffer, n);
  return buffer;
}
inline const float* floats_of(const float* from, float*, int) { return from; }
inline const double* floats_of(const double* from, double*, int) { return from; }

/// Where floats are written that store_floats() brings to `to`.
template <class T>
float* floats_for(T*, float* buffer) {
  return buffer;
}
inline float* floats_for(float* to, float*) { return to; }
inline double* floats_for(double* to, double*) { return to; }

template <class T>
void store_floats(const float* from, T* to, int n) {
  if constexpr (!std::is_same_v<T, float>) narrow(from, to, n);
}
inline void store_floats(const double*, double*, int) {}

// --- Rows ---

/// Calls function(first, n, at) for runs of n elements of the range [begin, end) that stay inside one period,
/// whose element `at` is that of element `first`.
template <class Function>
void for_runs(std::int64_t period, std::int64_t begin, std::int64_t end, Function function) {
  for (std::int64_t first = begin; first < end;) {
    const std::int64_t at = first % period, n = std::min(end - first, period - at);
    function(first, static_cast<int>(n), at);
    first += n;
  }
}

// A row is taken in chunks of kRowChunk columns. A row of one chunk is converted to floats once, a longer one
// in each pass. Rows of many models have 4096; some buffers of 16 KiB fit in L2.
constexpr int kRowChunk = 4096;

/// Calls function(at, n) for the columns [at, at + n) of each chunk.
template <class Function>
void for_chunks(std::int64_t columns, Function function, int chunk = kRowChunk) {
  for (std::int64_t at = 0; at < columns; at += chunk)
    function(at, static_cast<int>(std::min<std::int64_t>(chunk, columns - at)));
}

// --- Batches of short rows ---

// A loop over the columns of a short row takes longer to start than to run. That is why short rows are taken
// in batches: loops run over all elements of a batch, for which the numbers of rows and of columns are
// repeated.
constexpr int kBatchedRow = 32;  // columns of the longest row that is taken so
constexpr int kBatch = 256;      // elements: a dozen buffers of 1 KiB fit in L1

inline int rows_of_batch(int columns) { return kBatch / columns; }

/// to[i] = row[(first + i) % length].
template <class C>
void repeat(const C* row, std::int64_t length, std::int64_t first, C* to, std::int64_t n) {
  if (length == 1) return static_cast<void>(std::fill_n(to, n, row[0]));
  for (std::int64_t i = 0; i < n; ++i, first = first + 1 == length ? 0 : first + 1) to[i] = row[first];
}

/// Calls function(columns), with a compile-time constant for powers of two: loops over the columns are
/// unrolled.
template <class Function>
void with_columns(int columns, Function function) {
  switch (columns) {
    case 4:
      return function(std::integral_constant<int, 4>());
    case 8:
      return function(std::integral_constant<int, 8>());
    case 16:
      return function(std::integral_constant<int, 16>());
    case 32:
      return function(std::integral_constant<int, 32>());
    default:
      return function(columns);
  }
}

/// to[r * columns + c] = from[r].
template <class C>
void repeat_each(const C* from, int rows, int number, C* to) {
  with_columns(number, [=](auto constant) {
    const int columns = constant;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c) to[r * columns + c] = from[r];
  });
}

/// sums[r] = the sum of values[r * columns + c] over the columns.
template <class C>
void sum_rows_of_batch(const C* values, int rows, int number, C* sums) {
  with_columns(number, [=](auto constant) {
    const int columns = constant;
    for (int r = 0; r < rows; ++r) {
      C sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int c = 0; c < columns; ++c) sum += values[r * columns + c];
      sums[r] = sum;
    }
  });
}

// --- Sums of columns ---

/// The rows of part `part`: from here to those of the next part.
inline std::int64_t first_row(int rows, int parts, int part) {
  return static_cast<std::int64_t>(rows) * part / parts;
}

/// out[c] = the sum of partial[p * apart + c] over the parts, divided by `divisor`.
template <class T>
void sum_parts(const Compute<T>* partial, int parts, std::int64_t apart, std::int64_t columns, T* out,
               Compute<T> divisor = 1) {
  for (std::int64_t first = 0; first < columns; first += kChunk) {
    const int n = static_cast<int>(std::min<std::int64_t>(kChunk, columns - first));
    Compute<T> sums[kChunk] = {};
    for (std::int64_t p = 0; p < parts; ++p)
      for (int i = 0; i < n; ++i) sums[i] += partial[p * apart + first + i];
    for (int i = 0; i < n; ++i) sums[i] /= divisor;
    narrow(sums, out + first, n);
  }
}

}  // namespace workbook_ops
