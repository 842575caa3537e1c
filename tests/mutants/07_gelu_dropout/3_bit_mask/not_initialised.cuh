// bits are added to the word that was there | uninit
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const unsigned word = __ballot_sync(0xffffffffu, i < n && !dropout.drops(drawn));
  if (i < n) y[i] = dropout(gelu(x[i]), drawn);
  if (i < n && i % 32 == 0) mask[i / 32] |= word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
