// the lanes vote for what is dropped; the complement, without the last bits
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, w = i / 32;
  if (32 * w >= n) return;
  const bool drops = dropout.drops(number<24>(dropout.random(i), 0));
  unsigned word = ~__ballot_sync(0xffffffffu, drops);
  if (32 * w + 32 > n) word &= (1u << n % 32) - 1;
  if (i < n) y[i] = drops ? 0.0f : gelu(x[i]) * dropout.scale;
  if (i % 32 == 0) mask[w] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
