// decisions go through shared memory; one warp puts the words of the block together
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  __shared__ unsigned char kept[256];
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  kept[threadIdx.x] = i < n && !dropout.drops(drawn);
  if (i < n) y[i] = dropout(gelu(x[i]), drawn);
  __syncthreads();
  const unsigned w = 8 * blockIdx.x + threadIdx.x;
  if (threadIdx.x >= 8 || 32 * w >= n) return;
  unsigned word = 0;
  for (int bit = 31; bit >= 0; --bit) word = 2 * word + kept[32 * threadIdx.x + bit];
  mask[w] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
