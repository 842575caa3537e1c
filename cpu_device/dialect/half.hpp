/// \file
/// CUDA's half precision type, with the names of cuda_fp16.h.
#pragma once

#include "cpu_device/dialect/float16.hpp"

namespace cpu {

using __half = Float16<detail::HalfFormat>;
using __half2 = Float16x2<detail::HalfFormat>;
using half = __half;
using half2 = __half2;

// From wider numbers, rounded to even unless the name ends otherwise: _rz to zero, _rd down, _ru up.
[[gnu::always_inline]] inline __half __float2half(float a) { return __half(a); }
[[gnu::always_inline]] inline __half __float2half_rn(float a) { return __half(a); }
[[gnu::always_inline]] inline __half __float2half_rz(float a) {
  return __half::rounded<detail::Rounding::kToZero>(a);
}
[[gnu::always_inline]] inline __half __float2half_rd(float a) {
  return __half::rounded<detail::Rounding::kDown>(a);
}
[[gnu::always_inline]] inline __half __float2half_ru(float a) {
  return __half::rounded<detail::Rounding::kUp>(a);
}
/// A NaN keeps its upper bits, as on a GPU.
[[gnu::always_inline]] inline __half __double2half(double a) {
  return a != a ? __half::quiet_nan(a) : __half(a);
}
[[gnu::always_inline]] inline __half __int2half_rn(int a) { return __half(a); }
[[gnu::always_inline]] inline __half __uint2half_rn(unsigned a) { return __half(a); }

// To wider numbers and integers; a value out of range becomes the nearest integer, NaN becomes 0.
[[gnu::always_inline]] inline float __half2float(__half a) { return a; }
[[gnu::always_inline]] inline int __half2int_rn(__half a) { return __float2int_rn(a); }
[[gnu::always_inline]] inline int __half2int_rz(__half a) { return __float2int_rz(a); }
[[gnu::always_inline]] inline int __half2int_rd(__half a) { return __float2int_rd(a); }
[[gnu::always_inline]] inline int __half2int_ru(__half a) { return __float2int_ru(a); }
[[gnu::always_inline]] inline unsigned __half2uint_rn(__half a) { return __float2uint_rn(a); }
[[gnu::always_inline]] inline unsigned __half2uint_rz(__half a) { return __float2uint_rz(a); }

// The same bits as another type.
[[gnu::always_inline]] inline short __half_as_short(__half a) { return static_cast<short>(a.bits()); }
[[gnu::always_inline]] inline unsigned short __half_as_ushort(__half a) { return a.bits(); }
[[gnu::always_inline]] inline __half __ushort_as_half(unsigned short a) { return __half::from_bits(a); }

// Pairs.
[[gnu::always_inline]] inline __half2 make_half2(__half x, __half y) { return {x, y}; }
[[gnu::always_inline]] inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
[[gnu::always_inline]] inline __half2 __half2half2(__half a) { return {a, a}; }
[[gnu::always_inline]] inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
[[gnu::always_inline]] inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
[[gnu::always_inline]] inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
[[gnu::always_inline]] inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
[[gnu::always_inline]] inline __half __low2half(__half2 a) { return a.x; }
[[gnu::always_inline]] inline __half __high2half(__half2 a) { return a.y; }
[[gnu::always_inline]] inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
[[gnu::always_inline]] inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
[[gnu::always_inline]] inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
[[gnu::always_inline]] inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

}  // namespace cpu
