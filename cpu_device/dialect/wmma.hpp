/// \file
/// Matrix products of a warp on its tensor cores, with the names of mma.h. Each lane holds the elements of a
/// fragment that mma.sync gives it (wmma.cpp says which), so loads and stores cause the same traffic as on a
/// GPU of compute capability 8.0 or more.
///
/// Shapes and types, m x n x k: 16x16x16, 32x8x16 and 8x32x16 of `__half`, `__nv_bfloat16`, `signed char` or
/// `unsigned char`, 16x16x8 of `precision::tf32`. Accumulators are float, with `__half` also `__half`, and
/// int with the integers.
#pragma once

#include "cpu_device/dialect/bfloat16.hpp"
#include "cpu_device/dialect/half.hpp"
#include "cpu_device/dialect/runtime.hpp"

namespace cpu::nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

namespace detail {

template <class Use>
constexpr FragmentUse kUse = FragmentUse::kAccumulator;
template <>
inline constexpr FragmentUse kUse<matrix_a> = FragmentUse::kA;
template <>
inline constexpr FragmentUse kUse<matrix_b> = FragmentUse::kB;

/// How elements of type T are kept.
template <class T>
struct Element {
  static constexpr bool kSupported = false;
  using Storage = T;
};
template <>
struct Element<__half> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kHalf;
  using Storage = __half;
};
template <>
struct Element<__nv_bfloat16> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kBfloat16;
  using Storage = __nv_bfloat16;
};
template <>
struct Element<precision::tf32> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kTf32;
  using Storage = float;
};
template <>
struct Element<float> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kFloat;
  using Storage = float;
};

template <>
struct Element<signed char> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kInt8;
  using Storage = signed char;
};
template <>
struct Element<unsigned char> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kUint8;
  using Storage = unsigned char;
};
template <>
struct Element<int> {
  static constexpr bool kSupported = true;
  static constexpr FragmentNumber kNumber = FragmentNumber::kInt32;
  using Storage = int;
};

template <class T>
constexpr bool kIs8Bit = __is_same(T, signed char) || __is_same(T, unsigned char);
template <class T>
constexpr bool kIs16Bit = __is_same(T, __half) || __is_same(T, __nv_bfloat16);

template <int M, int N, int K>
constexpr bool kShapeOf16Bit = K == 16 &&
                               ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));
template <int M, int N, int K>
constexpr bool kShapeOfTf32 = M == 16 && N == 16 && K == 8;

template <class Use, int M, int N, int K, class T, class Layout>
constexpr bool supported() {
  const bool shape_of_16_bit = kShapeOf16Bit<M, N, K>, shape_of_tf32 = kShapeOfTf32<M, N, K>;
  if (__is_same(Use, accumulator))
    return __is_same(Layout, void) && ((__is_same(T, float) && (shape_of_16_bit || shape_of_tf32)) ||
                                       ((__is_same(T, __half) || __is_same(T, int)) && shape_of_16_bit));
  return (__is_same(Layout, row_major) || __is_same(Layout, col_major)) &&
         (((kIs16Bit<T> || kIs8Bit<T>)&&shape_of_16_bit) || (__is_same(T, precision::tf32) && shape_of_tf32));
}

/// Elements of a fragment. Operands of `__half` hold 16, as in mma.h, which repeats elements to suit older
/// GPUs.
template <class Use, int M, int N, int K, class T>
constexpr int kElements = __is_same(Use, accumulator) ? M* N / 32
                          : __is_same(T, __half)      ? 16
                          : __is_same(Use, matrix_a)  ? M* K / 32
                                                      : K* N / 32;

}  // namespace detail

/// One lane's elements `x` of a matrix. In all accumulators of one shape, x[i] is the same element of the
/// matrix.
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(
      detail::supported<Use, M, N, K, T, Layout>(),
      "fragments are of shape 16x16x16, 32x8x16 or 8x32x16 with __half, __nv_bfloat16 or integers of 8 bits, "
      "or 16x16x8 with precision::tf32, in row_major or col_major; accumulators are float, with __half also "
      "__half, and int with integers");
  using element_type = T;
  using storage_element_type = typename detail::Element<T>::Storage;
  static constexpr int num_elements = detail::kElements<Use, M, N, K, T>;
  static constexpr int num_storage_elements = num_elements;

  storage_element_type x[num_elements];
};

namespace detail {

template <class Use, int M, int N, int K, class T, class Layout>
[[gnu::always_inline]] inline WarpFragment own(const fragment<Use, M, N, K, T, Layout>& f) {
  using Storage = typename Element<T>::Storage;
  return {kUse<Use>, Element<T>::kNumber, M, N, K, f.num_elements, const_cast<Storage*>(f.x)};
}

}  // namespace detail

/// float to the nearest number with 10 bits of fraction; ties go away from zero.
[[gnu::always_inline]] inline float __float_to_tf32(float a) {
  if (a != a) return __uint_as_float(0x7fffffffu);
  const unsigned bits = __float_as_uint(a);
  if ((bits & 0x7f800000u) == 0x7f800000u) return a;
  return __uint_as_float((bits + 0x1000u) & ~0x1fffu);
}

template <class Use, int M, int N, int K, class T, class Layout>
[[gnu::always_inline]] inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                                                 const typename detail::Element<T>::Storage& value) {
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

/// Every lane gets its elements of a matrix whose rows (or columns, as the fragment's layout says) begin
/// `stride` elements apart. The stride is a multiple of 16 bytes; the first address one of 32 bytes, or of
/// what the lanes load of it if that is less, as with 8 bits.
template <class Use, int M, int N, int K, class T, class Layout>
[[gnu::always_inline]] inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f,
                                                    const typename detail::Element<T>::Storage* from,
                                                    unsigned stride) {
  static_assert(!__is_same(Use, accumulator),
                "an accumulator is loaded with a layout: mem_row_major or mem_col_major");
  warp_load(detail::own(f), {from, stride, __is_same(Layout, col_major)});
}
template <int M, int N, int K, class T>
[[gnu::always_inline]] inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* from,
                                                    unsigned stride, layout_t layout) {
  warp_load(detail::own(f), {from, stride, layout == mem_col_major});
}

/// Stores a fragment to such a matrix.
template <int M, int N, int K, class T>
[[gnu::always_inline]] inline void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f,
                                                     unsigned stride, layout_t layout) {
  warp_store(to, {to, stride, layout == mem_col_major}, detail::own(f));
}

/// d = a * b + c. With integers it is exact. Otherwise products are exact and added up in float32, in the
/// order of k; a GPU's order and rounding are not published. Both are within k * 2^-23 * (|c| + the sum of
/// the products' absolute values) of the exact result (M. Fasi and others, Numerical behavior of NVIDIA
/// tensor cores, PeerJ Computer Science 7, 2021), plus the rounding to `__half` of an accumulator of that
/// type.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
[[gnu::always_inline]] inline void mma_sync(fragment<accumulator, M, N, K, D>& d,
                                            const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                            const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                            const fragment<accumulator, M, N, K, C>& c) {
  constexpr bool in_int = __is_same(C, int) && __is_same(D, int);
  constexpr bool in_float = __is_same(C, float) && __is_same(D, float);
  static_assert(detail::kIs8Bit<T> ? in_int : in_float || (__is_same(T, __half) && !in_int),
                "bfloat16 and TF32 are accumulated in float, and integers in int");
  warp_multiply(detail::own(d), detail::own(a), detail::own(b), detail::own(c));
}
/// The same in integers; with `satf`, a sum that an int cannot hold becomes the nearest that it can.
template <int M, int N, int K, class T, class LayoutA, class LayoutB>
[[gnu::always_inline]] inline void mma_sync(fragment<accumulator, M, N, K, int>& d,
                                            const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                                            const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                                            const fragment<accumulator, M, N, K, int>& c, bool satf) {
  static_assert(detail::kIs8Bit<T>, "only integers are accumulated in int");
  warp_multiply(detail::own(d), detail::own(a), detail::own(b), detail::own(c), satf);
}

}  // namespace cpu::nvcuda::wmma

// Files that say `using namespace nvcuda` before their own namespace.
namespace nvcuda = cpu::nvcuda;
