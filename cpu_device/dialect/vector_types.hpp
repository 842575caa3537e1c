/// \file
/// CUDA's vector types on the CPU device. Types of 2 and 4 elements are copied as one value of their whole
/// width, so that a `float4` is traced as the one 16-byte access that it is on a GPU; the compiler would
/// otherwise copy it member by member. Types of 3 elements are copied member by member, as a GPU does it.
#pragma once

#include <stddef.h>

#include "cpu_device/dialect/runtime.hpp"

namespace cpu {
namespace detail {

// may_alias: these carry the bytes of any vector type.
typedef unsigned short Bits16 __attribute__((may_alias));
typedef unsigned int Bits32 __attribute__((may_alias));
typedef unsigned int Bits64 __attribute__((vector_size(8), may_alias));  // clang would split an integer
typedef unsigned long long Bits128 __attribute__((vector_size(16), may_alias));

template <size_t Bytes>
struct BitsOf {
  using type = Bits128;  // 32 bytes go in two accesses of 16
};
template <>
struct BitsOf<2> {
  using type = Bits16;
};
template <>
struct BitsOf<4> {
  using type = Bits32;
};
template <>
struct BitsOf<8> {
  using type = Bits64;
};

template <class T>
[[gnu::always_inline]] inline void copy_whole(T* to, const T* from) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  for (size_t i = 0; i < sizeof(T) / sizeof(Bits); ++i)
    reinterpret_cast<Bits*>(to)[i] = reinterpret_cast<const Bits*>(from)[i];
}

/// A vector is aligned to its size, but to no more than the widest access.
constexpr size_t alignment(size_t bytes) { return bytes < 16 ? bytes : 16; }

}  // namespace detail

template <class T>
struct Vector1 {
  T x;
};

template <class T>
struct alignas(detail::alignment(2 * sizeof(T))) Vector2 {
  T x, y;

  Vector2() = default;
  constexpr Vector2(T x, T y = T{}) : x(x), y(y) {}
  [[gnu::always_inline]] Vector2(const Vector2& other) { detail::copy_whole(this, &other); }
  [[gnu::always_inline]] Vector2& operator=(const Vector2& other) {
    detail::copy_whole(this, &other);
    return *this;
  }
};

template <class T>
struct Vector3 {
  T x, y, z;

  Vector3() = default;
  constexpr Vector3(T x, T y = T{}, T z = T{}) : x(x), y(y), z(z) {}
  [[gnu::always_inline]] Vector3(const Vector3& other) : x(other.x), y(other.y), z(other.z) {}
  [[gnu::always_inline]] Vector3& operator=(const Vector3& other) {
    x = other.x;
    y = other.y;
    z = other.z;
    return *this;
  }
};

template <class T>
struct alignas(detail::alignment(4 * sizeof(T))) Vector4 {
  T x, y, z, w;

  Vector4() = default;
  constexpr Vector4(T x, T y = T{}, T z = T{}, T w = T{}) : x(x), y(y), z(z), w(w) {}
  [[gnu::always_inline]] Vector4(const Vector4& other) { detail::copy_whole(this, &other); }
  [[gnu::always_inline]] Vector4& operator=(const Vector4& other) {
    detail::copy_whole(this, &other);
    return *this;
  }
};

// char1 ... char4 and make_char1 ... make_char4, and so on for each element type. uint3 is that of
// runtime.hpp.
#define WORKBOOK_VECTOR_TYPE(name, T)                                                       \
  using name##1 = Vector1<T>;                                                               \
  using name##2 = Vector2<T>;                                                               \
  using name##4 = Vector4<T>;                                                               \
  [[gnu::always_inline]] inline name##1 make_##name##1(T x) { return {x}; }                 \
  [[gnu::always_inline]] inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  [[gnu::always_inline]] inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  [[gnu::always_inline]] inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

using char3 = Vector3<signed char>;
using uchar3 = Vector3<unsigned char>;
using short3 = Vector3<short>;
using ushort3 = Vector3<unsigned short>;
using int3 = Vector3<int>;
using longlong3 = Vector3<long long>;
using ulonglong3 = Vector3<unsigned long long>;
using float3 = Vector3<float>;
using double3 = Vector3<double>;

WORKBOOK_VECTOR_TYPE(char, signed char)
WORKBOOK_VECTOR_TYPE(uchar, unsigned char)
WORKBOOK_VECTOR_TYPE(short, short)
WORKBOOK_VECTOR_TYPE(ushort, unsigned short)
WORKBOOK_VECTOR_TYPE(int, int)
WORKBOOK_VECTOR_TYPE(uint, unsigned)
WORKBOOK_VECTOR_TYPE(longlong, long long)
WORKBOOK_VECTOR_TYPE(ulonglong, unsigned long long)
WORKBOOK_VECTOR_TYPE(float, float)
WORKBOOK_VECTOR_TYPE(double, double)
#undef WORKBOOK_VECTOR_TYPE

}  // namespace cpu
