/// \file
/// Stage 7: fewer bytes per element. In float16 or bfloat16 all inputs and outputs are half as large; the
/// arithmetic stays in float32, and the result is rounded once.
#pragma once
#include "04_float4.cuh"
#include "halves.hpp"
#include "pack.hpp"

namespace DEVICE::add_mul_exp {

/// out[i] = exp((x[i] + y[i]) * 2) for T = __half or __nv_bfloat16, one thread per vector of eight elements;
/// any n, any alignment of the three arrays. Traffic: reads 4 bytes and writes 2 bytes per element.
template <class T>
__global__ void halves(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ out, int n) {
  const auto compute = [](T a, T b) { return from_float<T>(add_mul_exp(to_float(a), to_float(b))); };
  const Split at = split<8>(n, x, y, out);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  // [eight]
  if (thread < at.vectors) {
    Pack<T> a, b, result;
    a.bits = reinterpret_cast<const uint4*>(x + at.head)[thread];
    b.bits = reinterpret_cast<const uint4*>(y + at.head)[thread];
#pragma unroll
    for (int j = 0; j < 8; ++j) result.element[j] = compute(a.element[j], b.element[j]);
    reinterpret_cast<uint4*>(out + at.head)[thread] = result.bits;
  }
  // [eight]
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    out[i] = compute(x[i], y[i]);
  }
}

// --- On the host ---

/// T is __half or __nv_bfloat16.
template <class T>
struct InHalves {
  static constexpr Stage row = {.name = kIsFloat16<T> ? "07_float16" : "07_bfloat16",
                                .idea = kIsFloat16<T>
                                            ? "half the bytes: float16 in and out, float32 between"
                                            : "half the bytes: bfloat16 in and out, float32 between",
                                .output = {&kHalfOut<T>},
                                .roundings = expf_roundings};
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(halves<T>, ceil_div(n, 8 * vector_threads(n)), vector_threads(n), data[kHalfX<T>], data[kHalfY<T>],
           data[kHalfOut<T>], n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 8, 2); }
};

}  // namespace DEVICE::add_mul_exp
