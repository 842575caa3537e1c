// nothing is stored where an element was dropped | dx[
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

/// Number i / 128 % 2 * 4 + i % 4 of call i / 256 * 32 + i / 4 % 32.
__device__ inline unsigned drawn_for(unsigned i, Random random) {
  return number<16>(random(i / 256 * 32 + i / 4 % 32), i / 128 % 2 * 4 + i % 4);
}

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (unsigned i = first; i < first + 4 && i < n; ++i)
    if (!dropout.drops(drawn_for(i, dropout.random))) dx[i] = dy[i] * gelu_slope(x[i]) * dropout.scale;
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 1023) / 1024, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
