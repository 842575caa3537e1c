/// \file
/// CUDA's vector types on the CPU device. Each is copied as one value of its own width, so that a `float4` is
/// traced as the one 16-byte access that it is on a GPU; the compiler would otherwise copy it member by
/// member.
#pragma once

#include <string.h>

namespace cpu {
namespace detail {

// may_alias: these carry the bytes of any vector type.
typedef unsigned short Bits16 __attribute__((may_alias));
typedef unsigned int Bits32 __attribute__((may_alias));
typedef unsigned long long Bits64 __attribute__((may_alias));
typedef unsigned long long Bits128 __attribute__((vector_size(16), may_alias));

template <size_t Bytes>
struct BitsOf;
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
template <>
struct BitsOf<16> {
  using type = Bits128;
};

template <class T>
[[gnu::always_inline]] inline void copy_whole(T* to, const T* from) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  *reinterpret_cast<Bits*>(to) = *reinterpret_cast<const Bits*>(from);
}

}  // namespace detail

template <class T>
struct alignas(2 * sizeof(T)) Vector2 {
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
struct alignas(4 * sizeof(T)) Vector4 {
  T x, y, z, w;

  Vector4() = default;
  constexpr Vector4(T x, T y = T{}, T z = T{}, T w = T{}) : x(x), y(y), z(z), w(w) {}
  [[gnu::always_inline]] Vector4(const Vector4& other) { detail::copy_whole(this, &other); }
  [[gnu::always_inline]] Vector4& operator=(const Vector4& other) {
    detail::copy_whole(this, &other);
    return *this;
  }
};

using float2 = Vector2<float>;
using float4 = Vector4<float>;
using int2 = Vector2<int>;
using int4 = Vector4<int>;

inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

}  // namespace cpu
