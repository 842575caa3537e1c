// float4 per lane: the four bits of eight lanes are put together by shuffles
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, first = 4 * t;
  unsigned bits = 0;
  alignas(16) float in[4] = {}, out[4];
  if (first + 4 <= n) *reinterpret_cast<float4*>(in) = *reinterpret_cast<const float4*>(x + first);
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned i = first + j, drawn = number<24>(dropout.random(i), 0);
    if (first + 4 > n && i < n) in[j] = x[i];
    if (i < n && !dropout.drops(drawn)) bits |= 1u << i % 32;
    out[j] = dropout(gelu(in[j]), drawn);
  }
  for (int distance = 1; distance < 8; distance *= 2) bits |= __shfl_xor_sync(~0u, bits, distance);
  if (first % 32 == 0 && first < n) mask[first / 32] = bits;
  if (first + 4 <= n)
    *reinterpret_cast<float4*>(y + first) = *reinterpret_cast<float4*>(out);
  else
    for (unsigned i = first; i < n; ++i) y[i] = out[i - first];
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 1023) / 1024, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
