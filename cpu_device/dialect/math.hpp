/// \file
/// Arithmetic intrinsics of the dialect. Those with a stated rounding give the GPU's result, to the bit. The
/// fast approximations differ from the exact result, as a GPU's do, within the bounds of the CUDA C++
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

// Fast approximations, computed as a GPU computes them: from a power or logarithm to base 2, a reciprocal or
// a sine of turns, in float. So they differ from the exact result about where and as far as a GPU's do, and
// code that needs the exact result fails here, too. The hardware's own approximations cannot be had to the
// bit; the bounds of all of them are in tests/kernels/arithmetic_float.inc, which also tests a GPU.
[[gnu::always_inline]] inline float approximate_exp2(float a) {
  return static_cast<float>(exp2(static_cast<double>(a)));
}
/// To 23 bits after the point.
[[gnu::always_inline]] inline float __log2f(float a) {
  return static_cast<float>(floor(log2(static_cast<double>(a)) * 0x1p23) * 0x1p-23);
}
[[gnu::always_inline]] inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
[[gnu::always_inline]] inline float rsqrt(float a) { return rsqrtf(a); }
[[gnu::always_inline]] inline double rsqrt(double a) { return 1.0 / sqrt(a); }
[[gnu::always_inline]] inline float __expf(float a) { return approximate_exp2(a * 1.44269504f); }
[[gnu::always_inline]] inline float __exp10f(float a) { return approximate_exp2(a * 3.32192809f); }
[[gnu::always_inline]] inline float __logf(float a) { return __log2f(a) * 0.693147181f; }
[[gnu::always_inline]] inline float __log10f(float a) { return __log2f(a) * 0.301029996f; }
/// NaN for a negative base, as on a GPU.
[[gnu::always_inline]] inline float __powf(float a, float b) { return approximate_exp2(b * __log2f(a)); }
/// 2 pi times the angle in turns, of which a float has the fewer digits the larger it is.
[[gnu::always_inline]] inline double rounded_angle(float a) {
  return 2 * M_PI * static_cast<double>(a * 0.159154943f);
}
[[gnu::always_inline]] inline float __sinf(float a) { return static_cast<float>(sin(rounded_angle(a))); }
[[gnu::always_inline]] inline float __cosf(float a) { return static_cast<float>(cos(rounded_angle(a))); }
[[gnu::always_inline]] inline void __sincosf(float a, float* sine, float* cosine) {
  *sine = __sinf(a);
  *cosine = __cosf(a);
}
/// For 2^126 < |b| < 2^128 the reciprocal is less than the least normal number, and counts as 0.
[[gnu::always_inline]] inline float __fdividef(float a, float b) {
  const float size = fabsf(b);
  if (size < 0x1p-126f) return a / b;  // not laid down
  return a * (size > 0x1p126f ? copysignf(0.0f, b) : 1.0f / b);
}
[[gnu::always_inline]] inline float fdividef(float a, float b) { return a / b; }
[[gnu::always_inline]] inline float __tanf(float a) { return __fdividef(__sinf(a), __cosf(a)); }
/// To 12 bits.
[[gnu::always_inline]] inline float __tanhf(float a) {
  int exponent = 0;
  const double fraction = frexp(tanh(static_cast<double>(a)), &exponent);
  return static_cast<float>(ldexp(rint(fraction * 0x1p12), exponent - 12));
}
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

[[gnu::always_inline]] inline float __double2float_rn(double a) { return static_cast<float>(a); }
[[gnu::always_inline]] inline double __int2double_rn(int a) { return a; }

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
[[gnu::always_inline]] inline int __clzll(long long a) {
  return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
[[gnu::always_inline]] inline int __ffs(int a) { return __builtin_ffs(a); }
[[gnu::always_inline]] inline int __ffsll(long long a) { return __builtin_ffsll(a); }
[[gnu::always_inline]] inline unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1u) << (31 - bit);
  return reversed;
}
/// The upper half of the product.
[[gnu::always_inline]] inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
[[gnu::always_inline]] inline int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
/// Four of the eight bytes of `a` (0 to 3) and `b` (4 to 7): the lowest three of each four bits of `selector`
/// name one. The fourth bit is ignored (PTX's prmt would take the byte's sign).
[[gnu::always_inline]] inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned which = selector >> (4 * i) & 7;
    result |= static_cast<unsigned>(bytes >> (8 * which) & 0xff) << (8 * i);
  }
  return result;
}
/// The smaller of the lower halves of `a` and `b`, and of their upper halves.
[[gnu::always_inline]] inline unsigned __vminu2(unsigned a, unsigned b) {
  const unsigned low_a = a & 0xffff, low_b = b & 0xffff, high_a = a >> 16, high_b = b >> 16;
  return (low_a < low_b ? low_a : low_b) | (high_a < high_b ? high_a : high_b) << 16;
}
/// The larger ones.
[[gnu::always_inline]] inline unsigned __vmaxu2(unsigned a, unsigned b) {
  const unsigned low_a = a & 0xffff, low_b = b & 0xffff, high_a = a >> 16, high_b = b >> 16;
  return (low_a > low_b ? low_a : low_b) | (high_a > high_b ? high_a : high_b) << 16;
}
/// sum + the dot product of the four signed bytes of `a` and `b`.
[[gnu::always_inline]] inline int __dp4a(int a, int b, int sum) {
  unsigned total = static_cast<unsigned>(sum);  // wraps around
  for (int shift = 0; shift < 32; shift += 8)
    total +=
        static_cast<unsigned>(static_cast<signed char>(a >> shift) * static_cast<signed char>(b >> shift));
  return static_cast<int>(total);
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

// CUDA's min and max: of one type, of an integer and its unsigned sister, and of float and double. Any other
// mixture is ambiguous, as it is for nvcc.
#define WORKBOOK_MIN_MAX(A, B, Both)                                                                  \
  [[gnu::always_inline]] constexpr Both min(A a, B b) {                                               \
    return static_cast<Both>(b) < static_cast<Both>(a) ? static_cast<Both>(b) : static_cast<Both>(a); \
  }                                                                                                   \
  [[gnu::always_inline]] constexpr Both max(A a, B b) {                                               \
    return static_cast<Both>(a) < static_cast<Both>(b) ? static_cast<Both>(b) : static_cast<Both>(a); \
  }
#define WORKBOOK_MIN_MAX_INTEGERS(Signed)                             \
  WORKBOOK_MIN_MAX(Signed, Signed, Signed)                            \
  WORKBOOK_MIN_MAX(unsigned Signed, unsigned Signed, unsigned Signed) \
  WORKBOOK_MIN_MAX(Signed, unsigned Signed, unsigned Signed)          \
  WORKBOOK_MIN_MAX(unsigned Signed, Signed, unsigned Signed)
WORKBOOK_MIN_MAX_INTEGERS(int)
WORKBOOK_MIN_MAX_INTEGERS(long)
WORKBOOK_MIN_MAX_INTEGERS(long long)
#undef WORKBOOK_MIN_MAX_INTEGERS
#undef WORKBOOK_MIN_MAX
#define WORKBOOK_MIN_MAX(A, B, Both)                                                        \
  [[gnu::always_inline]] constexpr Both min(A a, B b) { return lesser_number<Both>(a, b); } \
  [[gnu::always_inline]] constexpr Both max(A a, B b) { return greater_number<Both>(a, b); }
WORKBOOK_MIN_MAX(float, float, float)
WORKBOOK_MIN_MAX(double, double, double)
WORKBOOK_MIN_MAX(float, double, double)
WORKBOOK_MIN_MAX(double, float, double)
#undef WORKBOOK_MIN_MAX

}  // namespace cpu
