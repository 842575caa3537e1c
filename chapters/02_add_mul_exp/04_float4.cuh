/// \file
/// Stage 4: 16 bytes per load, written by hand as in chapter 01.
#pragma once
#include "problem.cuh"
#include "vectors.hpp"

namespace DEVICE::add_mul_exp {

__device__ inline float add_mul_exp(float x, float y) { return expf((x + y) * 2.0f); }

/// out[i] = exp((x[i] + y[i]) * 2), one thread per vector of four elements; any n, any alignment of the three
/// arrays. Traffic: reads 8 bytes and writes 4 bytes per element, with a quarter of the requests of stage 2.
__global__ void vectorised(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                           int n) {
  // [vectors]
  const Split at = split<4>(n, x, y, out);
  const float4* x4 = reinterpret_cast<const float4*>(x + at.head);
  const float4* y4 = reinterpret_cast<const float4*>(y + at.head);
  float4* out4 = reinterpret_cast<float4*>(out + at.head);

  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < at.vectors) {
    const float4 a = x4[thread], b = y4[thread];
    out4[thread] = make_float4(add_mul_exp(a.x, b.x), add_mul_exp(a.y, b.y), add_mul_exp(a.z, b.z),
                               add_mul_exp(a.w, b.w));
  }
  // [vectors]
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    out[i] = add_mul_exp(x[i], y[i]);
  }
}

// --- On the host ---

struct Float4 {
  static constexpr Stage row =
      kElementwise.with({.name = "04_float4", .idea = "16 bytes per load, written by hand"});
  static void run(const Data& data) {
    const int n = length(data.shape);
    launch(vectorised, ceil_div(n, 4 * vector_threads(n)), vector_threads(n), data[kX], data[kY], data[kOut],
           n);
  }
  static Traffic traffic(const Shape& s) { return vector_traffic(s, 4, 4); }
};

}  // namespace DEVICE::add_mul_exp
