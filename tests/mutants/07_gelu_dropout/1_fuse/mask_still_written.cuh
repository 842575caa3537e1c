// one kernel, but the mask is stored as well | over budget: bytes written an element
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, signed char* mask, float* y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool kept = !dropout.drops(number<24>(dropout.random(i), 0));
  mask[i] = kept;
  y[i] = kept ? gelu(x[i]) * dropout.scale : 0.0f;
}

inline void gelu_dropout(const float* x, signed char* mask, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 255) / 256, 256, x, mask, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
