// a float4 and a call per thread: numbers of another sharing | dx[
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = dropout.random(t);
  for (unsigned i = 4 * t; i < 4 * t + 4 && i < n; ++i)
    dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<16>(call, i % 4));
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 1023) / 1024, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
