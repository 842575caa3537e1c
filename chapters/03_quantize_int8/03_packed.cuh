/// \file
/// Stage 3: four elements per thread: one 16-byte load, one 4-byte store.
#pragma once
#include "problem.cuh"
#include "quantize.cuh"
#include "vectors.hpp"

namespace DEVICE::quantize_int8 {

/// Quantises the elements of `at` that are in no vector; all threads of the grid share them.
__device__ inline void quantize_singles(const Split& at, const float* x, float scale, float zero_point,
                                        signed char* q) {
  for (unsigned s = blockIdx.x * blockDim.x + threadIdx.x; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    q[i] = to_int8(quantized(x[i], scale, zero_point));
  }
}

// [packed]
/// q[i] = the int8 of x[i], one thread per four elements; any n, any alignment of the two arrays.
/// Traffic: reads 4 bytes and writes 1 byte per element, in a quarter of the requests of stage 2.
__global__ void packed(const float* __restrict__ x, float scale, float zero_point,
                       signed char* __restrict__ q, int n) {
  const Split at = split<4>(n, x, q);
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < at.vectors) {
    const float4 four = reinterpret_cast<const float4*>(x + at.head)[i];
    reinterpret_cast<char4*>(q + at.head)[i] = quantized4(four, scale, zero_point);
  }
  quantize_singles(at, x, scale, zero_point, q);
}
// [packed]

// --- On the host ---

struct Packed {
  static constexpr Stage row = kOneScale.with({.name = "03_packed", .idea = "float4 in, char4 out"});
  static void run(const Data& data) {
    const int n = sizes(data.shape).n;
    launch(packed, ceil_div(n, 4 * kThreads), kThreads, data[kX], kScale, kZeroPoint, data[kQ], n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4); }
};

}  // namespace DEVICE::quantize_int8
