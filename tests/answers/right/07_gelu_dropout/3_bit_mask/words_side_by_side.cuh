// a warp has 1024 elements: lane L keeps vote L, and 32 words are stored at once
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned lane = threadIdx.x % 32, chunk = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned mine = 0;
  for (unsigned vote = 0; vote < 32; ++vote) {
    const unsigned i = 1024 * chunk + 32 * vote + lane;
    const unsigned drawn = number<24>(dropout.random(i), 0);
    const unsigned word = __ballot_sync(0xffffffffu, i < n && !dropout.drops(drawn));
    if (lane == vote) mine = word;
    if (i < n) y[i] = dropout(gelu(x[i]), drawn);
  }
  const unsigned w = 32 * chunk + lane;
  if (32 * w < n) mask[w] = mine;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 2047) / 2048, 64, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
