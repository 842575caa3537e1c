// eight words for each block, as in the chapter: more than there are | out of bounds: kernel forward
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  __shared__ unsigned words[8];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const unsigned word = __ballot_sync(0xffffffffu, i < n && !dropout.drops(drawn));
  if (i < n) y[i] = dropout(gelu(x[i]), drawn);
  if (i % 32 == 0) words[threadIdx.x / 32] = word;
  __syncthreads();
  if (threadIdx.x < 8) mask[8 * blockIdx.x + threadIdx.x] = words[threadIdx.x];
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
