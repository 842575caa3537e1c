// each thread sets its own bit | over budget: atomics
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x % 32 == 0) mask[i / 32] = 0;
  __syncwarp();
  if (i >= n) return;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  y[i] = dropout(gelu(x[i]), drawn);
  if (!dropout.drops(drawn)) atomicOr(&mask[i / 32], 1u << i % 32);
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
