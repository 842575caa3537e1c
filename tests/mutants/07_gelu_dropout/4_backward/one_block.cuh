// one block does everything | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

/// Number i / 128 % 2 * 4 + i % 4 of call i / 256 * 32 + i / 4 % 32.
__device__ inline unsigned drawn_for(unsigned i, Random random) {
  return number<16>(random(i / 256 * 32 + i / 4 % 32), i / 128 % 2 * 4 + i % 4);
}

/// The elements from `first`, four at most.
__device__ inline void four_from(unsigned first, const float* x, const float* dy, float* dx, unsigned n,
                                 Dropout dropout) {
  if (first + 4 <= n) {
    const float4 a = *reinterpret_cast<const float4*>(x + first);
    float4 b = *reinterpret_cast<const float4*>(dy + first);
    b.x = dropout(b.x * gelu_slope(a.x), drawn_for(first, dropout.random));
    b.y = dropout(b.y * gelu_slope(a.y), drawn_for(first + 1, dropout.random));
    b.z = dropout(b.z * gelu_slope(a.z), drawn_for(first + 2, dropout.random));
    b.w = dropout(b.w * gelu_slope(a.w), drawn_for(first + 3, dropout.random));
    *reinterpret_cast<float4*>(dx + first) = b;
    return;
  }
  for (unsigned i = first; i < n; ++i)
    dx[i] = dropout(dy[i] * gelu_slope(x[i]), drawn_for(i, dropout.random));
}

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  for (unsigned first = 4 * threadIdx.x; first < n; first += 4 * blockDim.x)
    four_from(first, x, dy, dx, n, dropout);
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, 1, 1024, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
