// one block does the vectors | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

/// How many floats `p` is past a multiple of 16 bytes: 0 to 3.
__device__ inline unsigned phase(const float* p) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(p) / 4 % 4);
}

/// One thread per float4; the elements before and after are done one by one, divided among all threads.
__global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ out, unsigned n) {
  const bool together = phase(x) == phase(y) && phase(x) == phase(out);
  const unsigned to_boundary = (4 - phase(x)) % 4;
  const unsigned head = together && to_boundary < n ? to_boundary : n;
  const unsigned vectors = (n - head) / 4;

  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned v = thread; v < vectors; v += blockDim.x) {
    const float4 x4 = reinterpret_cast<const float4*>(x + head)[v];
    const float4 y4 = reinterpret_cast<const float4*>(y + head)[v];
    reinterpret_cast<float4*>(out + head)[v] =
        make_float4(a * x4.x + y4.x, a * x4.y + y4.y, a * x4.z + y4.z, a * x4.w + y4.w);
  }

  const unsigned singles = n - 4 * vectors;
  for (unsigned s = thread; s < singles; s += gridDim.x * blockDim.x) {
    const unsigned i = s < head ? s : s + 4 * vectors;
    out[i] = a * x[i] + y[i];
  }
}

/// Computes out = a * x + y for n elements; x, y and out are device memory.
inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  constexpr int kThreads = 256;
  launch(scaled_sum, 1, kThreads, a, x, y, out, static_cast<unsigned>(n));
}

}  // namespace DEVICE::multiply_add_vectorise
