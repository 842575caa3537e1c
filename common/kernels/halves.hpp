/// \file
/// For kernels and for host code: 16-bit elements as floats and back. The arithmetic stays in float32. A
/// float is itself, for kernels that take either.
#pragma once
#include "device.hpp"

namespace DEVICE {

__host__ __device__ inline float to_float(__half a) { return __half2float(a); }
__host__ __device__ inline float to_float(__nv_bfloat16 a) { return __bfloat162float(a); }
__host__ __device__ inline float to_float(float a) { return a; }

/// `a` rounded to the nearest T, to even in the middle.
template <class T>
__host__ __device__ T from_float(float a);
template <>
__host__ __device__ inline __half from_float<__half>(float a) {
  return __float2half(a);
}
template <>
__host__ __device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float a) {
  return __float2bfloat16(a);
}
template <>
__host__ __device__ inline float from_float<float>(float a) {
  return a;
}

}  // namespace DEVICE
