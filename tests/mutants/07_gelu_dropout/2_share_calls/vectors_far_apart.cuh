// each thread has four float4 in a row: lanes 64 bytes apart | over budget: bytes read an element
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__global__ void share_calls(const float* x, float* y, unsigned n, Dropout dropout,
                            const unsigned long long* offset) {
  const unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  dropout.random.offset = *offset;
  for (unsigned t = first; t < first + 4 && 4 * t < n; ++t) {
    const uint4 call = dropout.random(t);
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
  launch(share_calls, (n + 4095) / 4096, 256, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
