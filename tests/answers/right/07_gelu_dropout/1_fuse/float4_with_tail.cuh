// float4, four calls per thread; thread 0 of the grid takes the tail
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__device__ inline float one(const float x, unsigned i, Dropout dropout) {
  return dropout(gelu(x), number<24>(dropout.random(i), 0));
}

__global__ void by_fours(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[t];
    reinterpret_cast<float4*>(y)[t] = make_float4(one(v.x, 4 * t, dropout), one(v.y, 4 * t + 1, dropout),
                                                  one(v.z, 4 * t + 2, dropout), one(v.w, 4 * t + 3, dropout));
  }
  if (t == 0)
    for (unsigned i = n / 4 * 4; i < n; ++i) y[i] = one(x[i], i, dropout);
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(by_fours, n / 4 / 256 + 1, 256, x, y, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
