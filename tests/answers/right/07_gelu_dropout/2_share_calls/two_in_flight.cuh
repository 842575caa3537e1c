// two float4 per thread, a block width apart, with a call each; a template for the count
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__device__ inline float4 dropped(const Dropout& dropout, float4 v, uint4 call) {
  return {dropout(gelu(v.x), number<24>(call, 0)), dropout(gelu(v.y), number<24>(call, 1)),
          dropout(gelu(v.z), number<24>(call, 2)), dropout(gelu(v.w), number<24>(call, 3))};
}

template <unsigned Each, unsigned Threads>
__global__ void tiles(const float* __restrict__ x, float* __restrict__ y, unsigned n, Dropout dropout,
                      const unsigned long long* offset) {
  const unsigned first = blockIdx.x * Each * Threads + threadIdx.x;
  float4 values[Each];
#pragma unroll
  for (unsigned j = 0; j < Each; ++j)
    if (first + j * Threads < n / 4) values[j] = reinterpret_cast<const float4*>(x)[first + j * Threads];
#pragma unroll
  for (unsigned j = 0; j < Each; ++j) {
    const unsigned v = first + j * Threads;
    if (v < n / 4)
      reinterpret_cast<float4*>(y)[v] = dropped(dropout, values[j], draw(dropout.random, offset, v));
  }
  const unsigned i = n / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && i < n)
    y[i] = dropout(gelu(x[i]), number<24>(draw(dropout.random, offset, i / 4), i % 4));
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(tiles<2, 128>, (n + 1023) / 1024, 128, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
