// the scale computed from the threshold; of what is dropped, nothing is loaded
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float result = 0.0f;
  if (!dropout.drops(number<24>(dropout.random(i), 0)))
    result = gelu(x[i]) / (1.0f - static_cast<float>(dropout.threshold) / (1 << 24));
  y[i] = result;
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 255) / 256, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
