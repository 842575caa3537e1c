// the float4 of a thread are a block apart, not a warp | dx[
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = dropout.random(t);
  for (unsigned v = 0; v < 2; ++v)
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned i = 4 * ((2 * blockIdx.x + v) * blockDim.x + threadIdx.x) + j;
      if (i < n) dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<16>(call, 4 * v + j));
    }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 2047) / 2048, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
