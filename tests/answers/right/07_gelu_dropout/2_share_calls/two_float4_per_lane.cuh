// two float4 per lane, 512 bytes apart, in a loop; a function for one of them
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__device__ inline void four(const float* x, float* y, unsigned call_index, unsigned n, const Dropout& dropout,
                            const unsigned long long* offset) {
  if (4 * call_index >= n) return;
  const uint4 call = draw(dropout.random, offset, call_index);
  if (4 * call_index + 4 > n) {
    for (unsigned i = 4 * call_index; i < n; ++i) y[i] = dropout(gelu(x[i]), number<24>(call, i & 3));
    return;
  }
  float4 v = reinterpret_cast<const float4*>(x)[call_index];
  v.x = dropout(gelu(v.x), number<24>(call, 0));
  v.y = dropout(gelu(v.y), number<24>(call, 1));
  v.z = dropout(gelu(v.z), number<24>(call, 2));
  v.w = dropout(gelu(v.w), number<24>(call, 3));
  reinterpret_cast<float4*>(y)[call_index] = v;
}

/// A warp has 256 elements: its lanes take a float4 each of the first half, then of the second.
__global__ void warps(const float* x, float* y, unsigned n, Dropout dropout,
                      const unsigned long long* offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, first = t / 32 * 64 + t % 32;
  for (unsigned call = first; call < first + 64; call += 32) four(x, y, call, n, dropout, offset);
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(warps, (n - 1) / 2048 + 1, 256, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
