// the call first, floats in an array, masks as factors; a switch for the tail
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__global__ void share_calls(const float* x, float* y, unsigned n, Dropout dropout,
                            const unsigned long long* offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, first = 4 * t;
  if (first >= n) return;
  Random random = dropout.random;
  random.offset = *offset;
  const uint4 call = random(t);
  const unsigned words[4] = {call.x, call.y, call.z, call.w};
  float factors[4];
  for (int j = 0; j < 4; ++j) factors[j] = (words[j] >> 8) < dropout.threshold ? 0.0f : dropout.scale;
  if (first + 3 < n) {
    const float4 v = *reinterpret_cast<const float4*>(&x[first]);
    *reinterpret_cast<float4*>(&y[first]) = make_float4(factors[0] * gelu(v.x), factors[1] * gelu(v.y),
                                                        factors[2] * gelu(v.z), factors[3] * gelu(v.w));
    return;
  }
  switch (n - first) {
    case 3:
      y[first + 2] = factors[2] * gelu(x[first + 2]);
      [[fallthrough]];
    case 2:
      y[first + 1] = factors[1] * gelu(x[first + 1]);
      [[fallthrough]];
    default:
      y[first] = factors[0] * gelu(x[first]);
  }
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n + 511) / 512, 128, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
