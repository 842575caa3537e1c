// a kernel of its own for the mask | over budget: launches
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void activate(const float* x, float* y, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(dropout.random(i), 0));
}

__global__ void vote(unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool kept = i < n && !dropout.drops(number<24>(dropout.random(i), 0));
  const unsigned word = __ballot_sync(0xffffffffu, kept);
  if (i < n && i % 32 == 0) mask[i / 32] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(activate, (n + 255) / 256, 256, x, y, static_cast<unsigned>(n), dropout);
  launch(vote, (n + 255) / 256, 256, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
