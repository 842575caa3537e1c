// warps without elements return as a whole
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31u, first = i - lane;
  if (first >= n) return;
  const bool inside = i < n;
  const float value = inside ? gelu(x[i]) : 0.0f;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const bool stays = inside && drawn >= dropout.threshold;
  const auto word = __ballot_sync(~0u, stays);
  if (inside) y[i] = stays ? value * dropout.scale : 0.0f;
  if (lane == 0) mask[first >> 5] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
