// a kernel for the derivative and one for the mask | over budget: launches
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

/// Number i / 128 % 2 * 4 + i % 4 of call i / 256 * 32 + i / 4 % 32.
__device__ inline unsigned drawn_for(unsigned i, Random random) {
  return number<16>(random(i / 256 * 32 + i / 4 % 32), i / 128 % 2 * 4 + i % 4);
}

__global__ void slopes(const float* x, const float* dy, float* dx, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dx[i] = dy[i] * gelu_slope(x[i]);
}

__global__ void drop(float* dx, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dx[i] = dropout(dx[i], drawn_for(i, dropout.random));
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(slopes, (n + 255) / 256, 256, x, dy, dx, static_cast<unsigned>(n));
  launch(drop, (n + 255) / 256, 256, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
