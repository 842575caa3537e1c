/// \file
/// Arithmetic intrinsics of the dialect. Those with a stated rounding give the GPU's result, to the bit. The
/// fast approximations are computed in double; a GPU's result may differ by the bounds of the CUDA C++
/// Programming Guide, section "Intrinsic Functions".
#pragma once

#include <limits.h>
#include <math.h>
#include <stddef.h>

namespace cpu {

[[gnu::always_inline]] inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
[[gnu::always_inline]] inline float __fadd_rn(float a, float b) { return a + b; }
[[gnu::always_inline]] inline float __fsub_rn(float a, float b) { return a - b; }
[[gnu::always_inline]] inline float __fmul_rn(float a, float b) { return a * b; }
[[gnu::always_inline]] inline float __fdiv_rn(float a, float b) { return a / b; }
[[gnu::always_inline]] inline float __fsqrt_rn(float a) { return sqrtf(a); }
[[gnu::always_inline]] inline float __frcp_rn(float a) { return 1.0f / a; }
/// No 1 / sqrt(a) is closer to the midpoint of two floats than 2^-51.7 of its own value (all of [1, 4) were
/// tried), and the errors of double are smaller.
[[gnu::always_inline]] inline float __frsqrt_rn(float a) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(a)));
}

// Fast approximations. Their bounds are in tests/kernels/arithmetic_float.inc, which also tests a GPU.
[[gnu::always_inline]] inline float rsqrtf(float a) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __expf(float a) {
  return static_cast<float>(exp(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __exp10f(float a) {
  return static_cast<float>(pow(10.0, static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __logf(float a) {
  return static_cast<float>(log(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __log2f(float a) {
  return static_cast<float>(log2(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __log10f(float a) {
  return static_cast<float>(log10(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __sinf(float a) {
  return static_cast<float>(sin(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __cosf(float a) {
  return static_cast<float>(cos(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __powf(float a, float b) {
  return static_cast<float>(pow(static_cast<double>(a), static_cast<double>(b)));
}
[[gnu::always_inline]] inline float __fdividef(float a, float b) { return a / b; }
/// The distribution function of the normal distribution: the exact GELU uses it.
[[gnu::always_inline]] inline float normcdff(float a) {
  return static_cast<float>(0.5 * erfc(-static_cast<double>(a) / M_SQRT2));
}
/// a, limited to 0 to 1; NaN becomes 0.
[[gnu::always_inline]] inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

/// float to int as the instruction cvt does it: a value out of range becomes the nearest int, NaN becomes 0.
[[gnu::always_inline]] inline int clamp_to_int(float whole) {
  if (whole != whole) return 0;
  if (whole >= 2147483648.0f) return INT_MAX;
  if (whole < -2147483648.0f) return INT_MIN;
  return static_cast<int>(whole);
}
[[gnu::always_inline]] inline int __float2int_rn(float a) { return clamp_to_int(rintf(a)); }
[[gnu::always_inline]] inline int __float2int_rz(float a) { return clamp_to_int(truncf(a)); }
[[gnu::always_inline]] inline int __float2int_rd(float a) { return clamp_to_int(floorf(a)); }
[[gnu::always_inline]] inline int __float2int_ru(float a) { return clamp_to_int(ceilf(a)); }
[[gnu::always_inline]] inline unsigned clamp_to_unsigned(float whole) {
  if (!(whole > 0)) return 0;
  return whole >= 4294967296.0f ? UINT_MAX : static_cast<unsigned>(whole);
}
[[gnu::always_inline]] inline unsigned __float2uint_rn(float a) { return clamp_to_unsigned(rintf(a)); }
[[gnu::always_inline]] inline unsigned __float2uint_rz(float a) { return clamp_to_unsigned(truncf(a)); }
[[gnu::always_inline]] inline unsigned __float2uint_rd(float a) { return clamp_to_unsigned(floorf(a)); }
[[gnu::always_inline]] inline unsigned __float2uint_ru(float a) { return clamp_to_unsigned(ceilf(a)); }
[[gnu::always_inline]] inline float __int2float_rn(int a) { return static_cast<float>(a); }
[[gnu::always_inline]] inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }

// The same bits as another type.
[[gnu::always_inline]] inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
[[gnu::always_inline]] inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
[[gnu::always_inline]] inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
[[gnu::always_inline]] inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
[[gnu::always_inline]] inline long long __double_as_longlong(double a) {
  return __builtin_bit_cast(long long, a);
}
[[gnu::always_inline]] inline double __longlong_as_double(long long a) {
  return __builtin_bit_cast(double, a);
}

// Integers.
[[gnu::always_inline]] inline int __popc(unsigned a) { return __builtin_popcount(a); }
[[gnu::always_inline]] inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
[[gnu::always_inline]] inline int __clz(int a) {
  return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a));
}
[[gnu::always_inline]] inline int __ffs(int a) { return __builtin_ffs(a); }
[[gnu::always_inline]] inline unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1u) << (31 - bit);
  return reversed;
}
/// The upper half of the product.
[[gnu::always_inline]] inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
/// sum + the dot product of the four signed bytes of `a` and `b`.
[[gnu::always_inline]] inline int __dp4a(int a, int b, int sum) {
  unsigned total = static_cast<unsigned>(sum);  // wraps around
  for (int shift = 0; shift < 32; shift += 8)
    total +=
        static_cast<unsigned>(static_cast<signed char>(a >> shift) * static_cast<signed char>(b >> shift));
  return static_cast<int>(total);
}

// CUDA's min and max take any two of one arithmetic type.
template <class T>
[[gnu::always_inline]] constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
[[gnu::always_inline]] constexpr T max(T a, T b) {
  return a < b ? b : a;
}
// If one operand is NaN, the result is the other; the C library's functions return a signalling NaN.
template <class T>
[[gnu::always_inline]] constexpr T lesser_number(T a, T b) {
  return a != a || b < a ? b : a;
}
template <class T>
[[gnu::always_inline]] constexpr T greater_number(T a, T b) {
  return a != a || a < b ? b : a;
}
[[gnu::always_inline]] inline float fminf(float a, float b) { return lesser_number(a, b); }
[[gnu::always_inline]] inline float fmaxf(float a, float b) { return greater_number(a, b); }
[[gnu::always_inline]] inline double fmin(double a, double b) { return lesser_number(a, b); }
[[gnu::always_inline]] inline double fmax(double a, double b) { return greater_number(a, b); }
[[gnu::always_inline]] inline float min(float a, float b) { return lesser_number(a, b); }
[[gnu::always_inline]] inline float max(float a, float b) { return greater_number(a, b); }
[[gnu::always_inline]] inline double min(double a, double b) { return lesser_number(a, b); }
[[gnu::always_inline]] inline double max(double a, double b) { return greater_number(a, b); }
// min and max of two types: the result has the type of a + b.
#define WORKBOOK_MIXED(A, B, Both)                                                \
  [[gnu::always_inline]] constexpr Both min(A a, B b) { return min<Both>(a, b); } \
  [[gnu::always_inline]] constexpr Both min(B a, A b) { return min<Both>(a, b); } \
  [[gnu::always_inline]] constexpr Both max(A a, B b) { return max<Both>(a, b); } \
  [[gnu::always_inline]] constexpr Both max(B a, A b) { return max<Both>(a, b); }
WORKBOOK_MIXED(int, unsigned, unsigned)
WORKBOOK_MIXED(int, long long, long long)
WORKBOOK_MIXED(int, size_t, size_t)
WORKBOOK_MIXED(unsigned, size_t, size_t)
#undef WORKBOOK_MIXED

}  // namespace cpu
