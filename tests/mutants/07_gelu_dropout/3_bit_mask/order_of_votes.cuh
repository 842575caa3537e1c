// four elements per lane, with a word per vote: bits 4 elements apart | mask[
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, lane = t % 32;
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned i = 4 * t + j, drawn = number<24>(dropout.random(i), 0);
    const unsigned word = __ballot_sync(0xffffffffu, i < n && !dropout.drops(drawn));
    if (i < n) y[i] = dropout(gelu(x[i]), drawn);
    if (lane == j && t / 32 * 4 + j < (n + 31) / 32) mask[t / 32 * 4 + j] = word;
  }
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 1023) / 1024, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
