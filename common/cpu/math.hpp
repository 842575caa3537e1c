/// \file
/// Arithmetic intrinsics of the dialect. Those that round in a stated way give what a GPU gives, to the bit;
/// the fast approximations are computed in double here, and a GPU's may differ by the bounds of the CUDA C++
/// Programming Guide, section "Intrinsic Functions".
#pragma once

#include <limits.h>
#include <math.h>

namespace cpu {

[[gnu::always_inline]] inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
[[gnu::always_inline]] inline float __fadd_rn(float a, float b) { return a + b; }
[[gnu::always_inline]] inline float __fsub_rn(float a, float b) { return a - b; }
[[gnu::always_inline]] inline float __fmul_rn(float a, float b) { return a * b; }
[[gnu::always_inline]] inline float __fdiv_rn(float a, float b) { return a / b; }
[[gnu::always_inline]] inline float __fsqrt_rn(float a) { return sqrtf(a); }
[[gnu::always_inline]] inline float __frcp_rn(float a) { return 1.0f / a; }

// Fast approximations. A GPU: at most 2 + floor(|1.173 a|) units in the last place for __expf, 2 for
// __fdividef, rsqrtf, __exp2f; for the others see the guide.
[[gnu::always_inline]] inline float rsqrtf(float a) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __expf(float a) {
  return static_cast<float>(exp(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __exp2f(float a) {
  return static_cast<float>(exp2(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __logf(float a) {
  return static_cast<float>(log(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __log2f(float a) {
  return static_cast<float>(log2(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __sinf(float a) {
  return static_cast<float>(sin(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __cosf(float a) {
  return static_cast<float>(cos(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __tanhf(float a) {
  return static_cast<float>(tanh(static_cast<double>(a)));
}
[[gnu::always_inline]] inline float __powf(float a, float b) {
  return static_cast<float>(pow(static_cast<double>(a), static_cast<double>(b)));
}
[[gnu::always_inline]] inline float __fdividef(float a, float b) { return a / b; }
[[gnu::always_inline]] inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

/// float to int as the instruction cvt does it: out of range goes to the nearest end, NaN to 0.
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
[[gnu::always_inline]] inline float __int2float_rn(int a) { return static_cast<float>(a); }

// Bits as another type.
[[gnu::always_inline]] inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
[[gnu::always_inline]] inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
[[gnu::always_inline]] inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
[[gnu::always_inline]] inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }

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

// CUDA's min and max take any two of one arithmetic type.
template <class T>
[[gnu::always_inline]] constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
[[gnu::always_inline]] constexpr T max(T a, T b) {
  return a < b ? b : a;
}
// A NaN is the other operand's turn, as of fminf and fmaxf.
[[gnu::always_inline]] inline float min(float a, float b) { return fminf(a, b); }
[[gnu::always_inline]] inline float max(float a, float b) { return fmaxf(a, b); }
[[gnu::always_inline]] inline double min(double a, double b) { return fmin(a, b); }
[[gnu::always_inline]] inline double max(double a, double b) { return fmax(a, b); }

}  // namespace cpu
