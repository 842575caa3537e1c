// a thread's elements are 256 apart, and the numbers of its call go to these | y[2] is -0, expected
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
  const uint4 call = draw(dropout.random, offset, blockIdx.x * blockDim.x + threadIdx.x);
  for (int j = 0; j < 4; ++j) {
    const int i = (4 * blockIdx.x + j) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = dropout(gelu(x[i]), number<24>(call, j));
  }
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n + 1023) / 1024, 256, x, y, n, dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
