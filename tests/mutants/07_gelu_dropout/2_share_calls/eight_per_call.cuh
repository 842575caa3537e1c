// numbers of 16 bits: eight elements per call, as stage 4 | y[0] is 0.700
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__global__ void share_calls(const float* x, float* y, int n, Dropout dropout,
                            const unsigned long long* offset) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = draw(dropout.random, offset, t);
  const unsigned threshold = dropout.threshold >> 8;
  for (int i = 8 * t; i < n && i < 8 * t + 8; ++i)
    y[i] = number<16>(call, i % 8) < threshold ? 0.0f : gelu(x[i]) * dropout.scale;
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n + 2047) / 2048, 256, x, y, n, dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
