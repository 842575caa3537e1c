// philox() with counter and key, the first word compared with the threshold moved up
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__device__ inline unsigned first_word(const Random& random, unsigned i) {
  const uint4 counter = make_uint4(random.offset & 0xffffffffu, random.offset >> 32, i, 0u);
  const uint2 key = make_uint2(random.seed & 0xffffffffu, random.seed >> 32);
  return philox(counter, key).x;
}

__global__ void fused(const float* x, float* y, int n, Random random, unsigned long long limit, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool stays = first_word(random, i) >= limit;  // the lower 8 bits of a multiple of 256 decide nothing
  y[i] = stays ? scale * gelu(x[i]) : 0.0f;
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, (n + 127) / 128, 128, x, y, n, dropout.random, 256ull * dropout.threshold, dropout.scale);
}

}  // namespace DEVICE::gelu_dropout_fuse
