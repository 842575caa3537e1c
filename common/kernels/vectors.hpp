/// \file
/// For kernels: how arrays of any length and alignment fall into vectors. Chapter 01 writes this out for four
/// arrays of floats (03_float4.cuh); later chapters have other numbers of arrays and other types.
#pragma once
#include <cstdint>

#include "device.hpp"

namespace DEVICE {

/// How n elements fall into vectors of `width`: `head` single elements, then width * `vectors`, then what is
/// left.
struct Split {
  unsigned n, width, head, vectors;

  /// Elements outside the vectors, before and after them.
  __device__ unsigned singles() const { return n - width * vectors; }
  /// The index of the s-th of these.
  __device__ unsigned single(unsigned s) const { return s < head ? s : s + width * vectors; }
};

/// The alignment that a vector of Width elements of type T needs: its size, but no more than the widest
/// access.
template <unsigned Width, class T>
constexpr unsigned kVectorAlignment = Width * sizeof(T) < 16 ? Width * sizeof(T) : 16;

/// Elements from `array` to the first at a multiple of the alignment of its vectors.
template <unsigned Width, class T>
__device__ inline unsigned to_boundary(const T* array) {
  const auto address = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(array));
  return (0u - address) % kVectorAlignment<Width, T> / unsigned{sizeof(T)};
}

/// Vectors of Width elements for all `arrays` at once. They begin at the first element where all arrays are
/// aligned; arrays that never are at the same element have no vectors: everything is head.
template <unsigned Width, class... T>
__device__ inline Split split(unsigned n, const T*... arrays) {
  unsigned head = 0;
  ((head = to_boundary<Width>(arrays) > head ? to_boundary<Width>(arrays) : head), ...);
  const bool together = ((to_boundary<Width>(arrays + head) == 0) && ...);
  if (!together || head > n) head = n;
  return {n, Width, head, (n - head) / Width};
}

}  // namespace DEVICE
