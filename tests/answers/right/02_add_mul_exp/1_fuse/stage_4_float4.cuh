// the lesson's stage 4
#pragma once
#include "ceil_div.hpp"
#include "device.hpp"
#include "vectors.hpp"

namespace DEVICE::add_mul_exp_fuse {

inline int vector_threads(int n) { return n < 4'000'000 ? 256 : 768; }

__device__ inline float add_mul_exp(float x, float y) { return expf((x + y) * 2.0f); }

__global__ void vectorised(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out,
                           int n) {
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
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    out[i] = add_mul_exp(x[i], y[i]);
  }
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(vectorised, ceil_div(n, 4 * vector_threads(n)), vector_threads(n), x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
