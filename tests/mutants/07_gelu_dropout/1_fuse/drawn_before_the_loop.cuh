// a grid-stride loop draws only once, before it: the second turn uses the same numbers | y[16386] is -0, expected
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, float* y, int n, Dropout dropout) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(thread), 0);
  for (int i = thread; i < n; i += gridDim.x * blockDim.x) y[i] = dropout(gelu(x[i]), drawn);
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  const int blocks = (n + 255) / 256;
  launch(fused, blocks < 64 ? blocks : 64, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
