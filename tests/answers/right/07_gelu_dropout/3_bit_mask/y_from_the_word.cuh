// each lane takes its decision from the word; blocks of 32 x 4 threads; the last lane with an element stores
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned lane = threadIdx.x, w = blockIdx.x * blockDim.y + threadIdx.y, i = 32 * w + lane;
  const unsigned n_here = i < n ? dropout.random(i).x >> 8 : 0u;
  const unsigned word = __ballot_sync(0xffffffffu, i < n && !(n_here < dropout.threshold));
  const bool kept = (word >> lane & 1) != 0;
  if (i < n) y[i] = kept ? dropout.scale * gelu(x[i]) : 0.0f;
  if (i == n - 1 || (lane == 31 && i < n)) mask[w] = word;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, dim3((n + 127) / 128), dim3(32, 4), x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
