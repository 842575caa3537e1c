// a grid-stride loop that draws once, before it | y[131074] is 2.239
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__global__ void share_calls(const float* x, float* y, unsigned n, Dropout dropout,
                            const unsigned long long* offset) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 call = draw(dropout.random, offset, thread);
  for (unsigned t = thread; 4 * t < n; t += gridDim.x * blockDim.x) {
    if (4 * t + 4 <= n) {
      const float4 v = reinterpret_cast<const float4*>(x)[t];
      reinterpret_cast<float4*>(y)[t] =
          make_float4(dropout(gelu(v.x), number<24>(call, 0)), dropout(gelu(v.y), number<24>(call, 1)),
                      dropout(gelu(v.z), number<24>(call, 2)), dropout(gelu(v.w), number<24>(call, 3)));
    } else {
      for (unsigned i = 4 * t; i < n; ++i) y[i] = dropout(gelu(x[i]), number<24>(call, i % 4));
    }
  }
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  const int blocks = (n + 1023) / 1024;
  launch(share_calls, blocks < 128 ? blocks : 128, 256, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
