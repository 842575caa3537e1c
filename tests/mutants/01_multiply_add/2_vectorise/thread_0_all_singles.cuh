// thread 0 does all elements where the arrays are not aligned alike | over budget: percent of all loads
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

/// How many floats `p` is past a multiple of 16 bytes: 0 to 3.
__device__ inline unsigned phase(const float* p) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(p) / 4 % 4);
}

/// One thread per float4; the elements before and after are done one by one, by the first thread.
__global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ out, unsigned n) {
  const bool together = phase(x) == phase(y) && phase(x) == phase(out);
  const unsigned to_boundary = (4 - phase(x)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  const unsigned vectors = (n - head) / 4;

  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < vectors) {
    const float4 x4 = reinterpret_cast<const float4*>(x + head)[thread];
    const float4 y4 = reinterpret_cast<const float4*>(y + head)[thread];
    reinterpret_cast<float4*>(out + head)[thread] =
        make_float4(a * x4.x + y4.x, a * x4.y + y4.y, a * x4.z + y4.z, a * x4.w + y4.w);
  }

  const unsigned singles = n - 4 * vectors;
  for (unsigned s = 0; thread == 0 && s < singles; ++s) {
    const unsigned i = s < head ? s : s + 4 * vectors;
    out[i] = a * x[i] + y[i];
  }
}

/// Computes out = a * x + y for n elements; x, y and out are device memory.
inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  constexpr int kThreads = 256;
  launch(scaled_sum, (n - 1) / (4 * kThreads) + 1, kThreads, a, x, y, out, static_cast<unsigned>(n));
}

}  // namespace DEVICE::multiply_add_vectorise
