// stage 8 with another layout: four elements per lane, 32 apart, of which lane j stores word j; lambda
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_bit_mask {

struct Arguments {
  const float* x;
  float* y;
  unsigned* mask;
  unsigned n;
};

template <int kEach>
__global__ void forward(Arguments a, Dropout dropout) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * kEach;
  const auto activated = [](float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); };
  float values[kEach];
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const unsigned i = first + 32 * j + lane;
    values[j] = i < a.n ? a.x[i] : 0.0f;
  }
  unsigned mine = 0;
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const unsigned i = first + 32 * j + lane, drawn = number<24>(dropout.random(i), 0);
    const unsigned word = __ballot_sync(0xffffffffu, i < a.n && !dropout.drops(drawn));
    mine = lane == static_cast<unsigned>(j) ? word : mine;
    if (i < a.n) a.y[i] = dropout(activated(values[j]), drawn);
  }
  if (lane < kEach && first + 32 * lane < a.n) a.mask[first / 32 + lane] = mine;
}

inline void gelu_dropout(const float* x, float* y, unsigned* mask, int n, Dropout dropout) {
  launch(forward<4>, (n + 511) / 512, 128, Arguments{x, y, mask, static_cast<unsigned>(n)}, dropout);
}

}  // namespace DEVICE::gelu_dropout_bit_mask
