// a thread has the 32 elements of a word | over budget: bytes read an element
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned w = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned word = 0;
  for (unsigned i = 32 * w; i < 32 * w + 32 && i < n; ++i) {
    const unsigned drawn = number<24>(dropout.random(i), 0);
    y[i] = dropout(gelu(x[i]), drawn);
    word |= unsigned{!dropout.drops(drawn)} << i % 32;
  }
  if (32 * w < n) mask[w] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 2047) / 2048, 64, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
