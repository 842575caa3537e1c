// a grid-stride loop over whole warps
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * w < n; w += warps) {
    const unsigned i = 32 * w + lane, drawn = number<24>(dropout.random(i), 0);
    const unsigned word = __ballot_sync(0xffffffffu, i < n && !dropout.drops(drawn));
    if (i < n) y[i] = dropout(gelu(x[i]), drawn);
    if (lane == 0) mask[w] = word;
  }
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  const int blocks = (n + 127) / 128;
  launch(forward, blocks < 1024 ? blocks : 1024, 128, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
