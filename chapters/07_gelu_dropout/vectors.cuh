/// \file
/// Chapter 07: 16 bytes at a time from and to arrays of any length and alignment. The numbers of a call
/// belong to fixed elements, so vectors begin at element 0, wherever the array starts in memory.
#pragma once
#include "halves.hpp"
#include "pack.hpp"

namespace DEVICE::gelu_dropout {

/// 16 bytes as elements. Not a Pack, which is a union: of one, nvcc 13.0 makes 2 to 5% more instructions in
/// the kernels for 16-bit elements.
template <class T>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(T);
  T element[kCount] = {};

  __device__ uint4& bits() { return *reinterpret_cast<uint4*>(element); }
  __device__ const uint4& bits() const { return *reinterpret_cast<const uint4*>(element); }
};

/// Vector v of an array of n elements, in one access if the array is aligned; zeros past its end.
template <class T>
__device__ inline Vector<T> load(const T* array, unsigned v, unsigned n, bool aligned) {
  constexpr int kCount = Vector<T>::kCount;
  Vector<T> vector;
  if (aligned && kCount * v + kCount <= n) {
    vector.bits() = reinterpret_cast<const uint4*>(array)[v];
    return vector;
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j)
    if (kCount * v + j < n) vector.element[j] = array[kCount * v + j];
  return vector;
}

/// Stores vector v of an array of n elements, but nothing past its end.
template <class T>
__device__ inline void store(T* array, unsigned v, unsigned n, bool aligned, const Vector<T>& vector) {
  constexpr int kCount = Vector<T>::kCount;
  if (aligned && kCount * v + kCount <= n) {
    reinterpret_cast<uint4*>(array)[v] = vector.bits();
    return;
  }
#pragma unroll
  for (int j = 0; j < kCount; ++j)
    if (kCount * v + j < n) array[kCount * v + j] = vector.element[j];
}

}  // namespace DEVICE::gelu_dropout
