// seed and offset change places | y[0] is 0, expected
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, float* y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Random random = {dropout.random.offset, dropout.random.seed};
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(random(i), 0));
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 255) / 256, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
