// the halves of the words by hand; the mask as eight bits; arrays in place of members
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__device__ inline unsigned eight_bits(uint4 call, unsigned threshold) {
  const unsigned words[4] = {call.x, call.y, call.z, call.w};
  unsigned kept = 0;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if ((words[w] & 0xffff) >= threshold) kept |= 1u << 2 * w;
    if (words[w] >> 16 >= threshold) kept |= 2u << 2 * w;
  }
  return kept;
}

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned kept = eight_bits(dropout.random(t), dropout.threshold);
#pragma unroll
  for (unsigned v = 0; v < 2; ++v) {
    const unsigned i = (t & ~31u) * 8 + v * 128 + (t & 31) * 4, bits = kept >> 4 * v;
    if (i >= n) return;
    if (i + 4 > n) {
      for (unsigned j = 0; i + j < n; ++j)
        dx[i + j] = bits >> j & 1 ? dropout.scale * dy[i + j] * gelu_slope(x[i + j]) : 0.0f;
      return;
    }
    alignas(16) float value[4], slope[4];
    *reinterpret_cast<float4*>(value) = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(slope) = *reinterpret_cast<const float4*>(dy + i);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      slope[j] = bits >> j & 1 ? dropout.scale * slope[j] * gelu_slope(value[j]) : 0.0f;
    *reinterpret_cast<float4*>(dx + i) = *reinterpret_cast<float4*>(slope);
  }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 1023) / 1024, 128, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
