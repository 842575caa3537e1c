/// \file
/// CUDA's bfloat16 type, with the names of cuda_bf16.h.
#pragma once

#include "cpu_device/dialect/float16.hpp"

namespace cpu {

using __nv_bfloat16 = Float16<detail::Bfloat16Format>;
using __nv_bfloat162 = Float16x2<detail::Bfloat16Format>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// From wider numbers, rounded to even unless the name ends otherwise: _rz to zero, _rd down, _ru up.
[[gnu::always_inline]] inline __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
[[gnu::always_inline]] inline __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
[[gnu::always_inline]] inline __nv_bfloat16 __float2bfloat16_rz(float a) {
  return __nv_bfloat16::rounded<detail::Rounding::kToZero>(a);
}
[[gnu::always_inline]] inline __nv_bfloat16 __float2bfloat16_rd(float a) {
  return __nv_bfloat16::rounded<detail::Rounding::kDown>(a);
}
[[gnu::always_inline]] inline __nv_bfloat16 __float2bfloat16_ru(float a) {
  return __nv_bfloat16::rounded<detail::Rounding::kUp>(a);
}
/// A NaN keeps its upper bits, as on a GPU.
[[gnu::always_inline]] inline __nv_bfloat16 __double2bfloat16(double a) {
  return a != a ? __nv_bfloat16::quiet_nan(a) : __nv_bfloat16(a);
}
[[gnu::always_inline]] inline __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }

// To wider numbers and integers; a value out of range becomes the nearest integer, NaN becomes 0.
[[gnu::always_inline]] inline float __bfloat162float(__nv_bfloat16 a) { return a; }
[[gnu::always_inline]] inline int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn(a); }
[[gnu::always_inline]] inline int __bfloat162int_rz(__nv_bfloat16 a) { return __float2int_rz(a); }

// The same bits as another type.
[[gnu::always_inline]] inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits(); }
[[gnu::always_inline]] inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  return __nv_bfloat16::from_bits(a);
}

// Pairs.
[[gnu::always_inline]] inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
[[gnu::always_inline]] inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
[[gnu::always_inline]] inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
[[gnu::always_inline]] inline __nv_bfloat162 __float2bfloat162_rn(float a) {
  return {__nv_bfloat16(a), __nv_bfloat16(a)};
}
[[gnu::always_inline]] inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
[[gnu::always_inline]] inline __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)};
}
[[gnu::always_inline]] inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
[[gnu::always_inline]] inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
[[gnu::always_inline]] inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
[[gnu::always_inline]] inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
[[gnu::always_inline]] inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
[[gnu::always_inline]] inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.x, b.x};
}
[[gnu::always_inline]] inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.y, b.y};
}

}  // namespace cpu
