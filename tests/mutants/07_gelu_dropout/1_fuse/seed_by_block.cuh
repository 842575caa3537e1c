// the block's index is added to the seed, the thread's is the call | y[261] is -0.000368
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, float* y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  dropout.random.seed += blockIdx.x;
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(dropout.random(threadIdx.x), 0));
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 255) / 256, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
