/// \file
/// For kernels: the elements of one access to memory, of any type. For four floats, CUDA has float4, which
/// chapter 01 uses (03_float4.cuh).
#pragma once
#include "device.hpp"

namespace DEVICE {

/// The elements of one access: `Bits` is uint4, 16 bytes of them, or a smaller type, such as T itself.
template <class T, class Bits = uint4>
union Pack {
  static constexpr int kCount = sizeof(Bits) / sizeof(T);
  Bits bits;
  T element[kCount];
  __device__ Pack() : bits() {}
  __device__ explicit Pack(const Bits& bits) : bits(bits) {}
};

/// Whether all arrays begin at multiples of 16 bytes.
template <class... T>
__host__ __device__ inline bool are_aligned(const T*... arrays) {
  return ((reinterpret_cast<size_t>(arrays) % 16 == 0) && ...);
}

}  // namespace DEVICE
