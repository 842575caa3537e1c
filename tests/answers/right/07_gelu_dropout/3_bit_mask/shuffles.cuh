// the bits are put together by shuffles
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

__device__ inline unsigned all_bits(bool mine) {
  unsigned bits = unsigned{mine} << threadIdx.x % 32;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, distance);
  return bits;
}

__global__ void forward(const float* x, float* y, unsigned* mask, unsigned n, Dropout dropout) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned drawn = number<24>(dropout.random(i), 0);
  const unsigned bits = all_bits(i < n && !dropout.drops(drawn));
  if (i >= n) return;
  y[i] = dropout(gelu(x[i]), drawn);
  if (threadIdx.x % 32 == 0) mask[i / 32] = bits;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward, (n + 255) / 256, 256, x, y, mask, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
