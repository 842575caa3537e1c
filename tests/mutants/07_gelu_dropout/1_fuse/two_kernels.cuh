// GELU and dropout in one kernel, the mask drawn by another | over budget: launches
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void draw(signed char* mask, int n, Dropout dropout) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mask[i] = !dropout.drops(number<24>(dropout.random(i), 0));
}

__global__ void apply(const float* x, const signed char* mask, float* y, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = mask[i] ? gelu(x[i]) * scale : 0.0f;
}

inline void gelu_dropout(const float* x, signed char* mask, float*, float* y, int n, Dropout dropout) {
  launch(draw, (n + 255) / 256, 256, mask, n, dropout);
  launch(apply, (n + 255) / 256, 256, x, mask, y, n, dropout.scale);
}

}  // namespace DEVICE::gelu_dropout_fuse
