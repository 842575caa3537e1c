// the vote names only the lanes that have an element; lane 0 is one of them
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, first = i & ~31u;
  if (i >= n) return;
  const unsigned lanes = n - first >= 32 ? 0xffffffffu : (1u << (n - first)) - 1u;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const unsigned word = __ballot_sync(lanes, !dropout.drops(drawn));
  y[i] = dropout(gelu(x[i]), drawn);
  if (i == first) mask[i / 32] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
