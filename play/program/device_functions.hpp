/// \file
/// Functions of kernels that kernel files of the workbook do without.
#pragma once

#include "play/program/start.hpp"

namespace program {

/// An atomic on a pair of 16-bit numbers, as the hardware has it for 4 bytes.
template <class Pair>
[[gnu::always_inline]] inline Pair add_pair(Pair* address, Pair value) {
  unsigned* const word = reinterpret_cast<unsigned*>(address);
  unsigned before = atomicAdd(word, 0u);
  for (;;) {
    Pair old, sum;
    unsigned bits;
    __builtin_memcpy(&old, &before, sizeof old);
    sum = __hadd2(old, value);
    __builtin_memcpy(&bits, &sum, sizeof bits);
    const unsigned found = atomicCAS(word, before, bits);
    if (found == before) return old;
    before = found;
  }
}

}  // namespace program

[[gnu::always_inline]] inline __half2 atomicAdd(__half2* address, __half2 value) {
  return program::add_pair(address, value);
}
[[gnu::always_inline]] inline __nv_bfloat162 atomicAdd(__nv_bfloat162* address, __nv_bfloat162 value) {
  return program::add_pair(address, value);
}

[[gnu::always_inline]] inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
[[gnu::always_inline]] inline unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
/// The sine and the cosine of pi times a number.
[[gnu::always_inline]] inline void sincospi(double a, double* sine, double* cosine) {
  const double reduced = a - 2 * std::nearbyint(a / 2);
  *sine = std::sin(M_PI * reduced);
  *cosine = std::cos(M_PI * reduced);
}
/// The lanes of `mask` that pass the same value.
template <class T>
[[gnu::always_inline]] inline unsigned __match_any_sync(unsigned mask, T value) {
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  unsigned same = mask;
  for (unsigned i = 0; i < 8 * sizeof value; ++i) {
    const unsigned set = __ballot_sync(mask, bits >> i & 1);
    same &= bits >> i & 1 ? set : ~set;
  }
  return same;
}

namespace program {

/// The lanes' values, combined in each of them.
template <class T, class Operation>
[[gnu::always_inline]] inline T over_lanes(unsigned mask, T value, Operation operation) {
  T all = __shfl_sync(mask, value, __builtin_ctz(mask));
  for (unsigned left = mask & (mask - 1); left; left &= left - 1)
    all = operation(all, __shfl_sync(mask, value, __builtin_ctz(left)));
  return all;
}

template <class T>
[[gnu::always_inline]] inline T reduce_add(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_min(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a < b ? a : b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_max(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_and(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a & b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_or(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a | b; });
}
template <class T>
[[gnu::always_inline]] inline T reduce_xor(unsigned mask, T value) {
  return over_lanes(mask, value, [](T a, T b) { return a ^ b; });
}

}  // namespace program

namespace program {

enum class Towards { kZero, kDown, kUp };

/// A result that was rounded to nearest, rounded in another way instead. `error` has the sign of what the
/// rounding has left out.
template <class T>
[[gnu::always_inline]] inline T rounded(T nearest, T error, Towards towards) {
  const bool down = towards == Towards::kDown || (towards == Towards::kZero && nearest > 0);
  if (down) return error < 0 ? std::nextafter(nearest, T(-INFINITY)) : nearest;
  return error > 0 ? std::nextafter(nearest, T(INFINITY)) : nearest;
}
/// D. Knuth's sum of two numbers and its exact error.
template <class T>
[[gnu::always_inline]] inline T rounded_sum(T a, T b, Towards towards) {
  const T sum = a + b, of_b = sum - a;
  return rounded(sum, (a - (sum - of_b)) + (b - of_b), towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_product(T a, T b, Towards towards) {
  const T product = a * b;
  return rounded(product, std::fma(a, b, -product), towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_quotient(T a, T b, Towards towards) {
  const T quotient = a / b, left = std::fma(-quotient, b, a);
  return rounded(quotient, b < 0 ? -left : left, towards);
}
template <class T>
[[gnu::always_inline]] inline T rounded_root(T a, Towards towards) {
  const T root = std::sqrt(a);
  return rounded(root, std::fma(-root, root, a), towards);
}

}  // namespace program

#define WORKBOOK_ROUNDED(suffix, towards)                                                            \
  [[gnu::always_inline]] inline float __fadd_##suffix(float a, float b) {                            \
    return program::rounded_sum(a, b, program::Towards::towards);                                    \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fsub_##suffix(float a, float b) {                            \
    return program::rounded_sum(a, -b, program::Towards::towards);                                   \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fmul_##suffix(float a, float b) {                            \
    return program::rounded_product(a, b, program::Towards::towards);                                \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __fdiv_##suffix(float a, float b) {                            \
    return program::rounded_quotient(a, b, program::Towards::towards);                               \
  }                                                                                                  \
  [[gnu::always_inline]] inline float __frcp_##suffix(float a) { return __fdiv_##suffix(1.0f, a); }  \
  [[gnu::always_inline]] inline float __fsqrt_##suffix(float a) {                                    \
    return program::rounded_root(a, program::Towards::towards);                                      \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __dadd_##suffix(double a, double b) {                         \
    return program::rounded_sum(a, b, program::Towards::towards);                                    \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __dmul_##suffix(double a, double b) {                         \
    return program::rounded_product(a, b, program::Towards::towards);                                \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __ddiv_##suffix(double a, double b) {                         \
    return program::rounded_quotient(a, b, program::Towards::towards);                               \
  }                                                                                                  \
  [[gnu::always_inline]] inline double __drcp_##suffix(double a) { return __ddiv_##suffix(1.0, a); } \
  [[gnu::always_inline]] inline double __dsqrt_##suffix(double a) {                                  \
    return program::rounded_root(a, program::Towards::towards);                                      \
  }
WORKBOOK_ROUNDED(rd, kDown)
WORKBOOK_ROUNDED(ru, kUp)
WORKBOOK_ROUNDED(rz, kZero)
#undef WORKBOOK_ROUNDED

namespace program {
/// %warpid and %smid. Which multiprocessor runs a block is not known before on a GPU either.
[[gnu::always_inline]] inline unsigned warp_index() {
  const uint3 t = cpu::thread_index(), b = cpu::block_extent();
  return (t.x + b.x * (t.y + b.y * t.z)) / 32;
}
[[gnu::always_inline]] inline unsigned multiprocessor_index() {
  const uint3 b = cpu::block_index(), g = cpu::grid_extent();
  return (b.x + g.x * (b.y + g.y * b.z)) % cpu::multiprocessors();
}
}  // namespace program

// A kernel's clock() is program::clock(), too: the translation knows it from the C library's.
[[gnu::always_inline]] inline long long clock64() { return program::clock(); }
[[gnu::always_inline]] inline void __nanosleep(unsigned) {}

// Kernel files of the workbook do without these, and cpu/unsupported.hpp says so.
#define __reduce_add_sync ::program::reduce_add
#define __reduce_min_sync ::program::reduce_min
#define __reduce_max_sync ::program::reduce_max
#define __reduce_and_sync ::program::reduce_and
#define __reduce_or_sync ::program::reduce_or
#define __reduce_xor_sync ::program::reduce_xor

// An atomic for a block alone is counted as the plain one.
#define WORKBOOK_SCOPES(name)                                     \
  template <class T, class... V>                                  \
  [[gnu::always_inline]] inline auto name##_block(T* a, V... v) { \
    return name(a, static_cast<T>(v)...);                         \
  }
WORKBOOK_SCOPES(atomicAdd)
WORKBOOK_SCOPES(atomicSub)
WORKBOOK_SCOPES(atomicExch)
WORKBOOK_SCOPES(atomicMin)
WORKBOOK_SCOPES(atomicMax)
WORKBOOK_SCOPES(atomicInc)
WORKBOOK_SCOPES(atomicDec)
WORKBOOK_SCOPES(atomicCAS)
WORKBOOK_SCOPES(atomicAnd)
WORKBOOK_SCOPES(atomicOr)
WORKBOOK_SCOPES(atomicXor)
#undef WORKBOOK_SCOPES

// Templates: a function of the user's of the same name is preferred.
template <class T = unsigned>
[[gnu::always_inline]] inline T umin(T a, T b) {
  return a < b ? a : b;
}
template <class T = unsigned>
[[gnu::always_inline]] inline T umax(T a, T b) {
  return a < b ? b : a;
}
