// a second kernel for the tail | over budget: launches
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__global__ void fours(const float* x, float* y, unsigned n, Dropout dropout,
                      const unsigned long long* offset) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n / 4) return;
  const uint4 call = draw(dropout.random, offset, t);
  const float4 v = reinterpret_cast<const float4*>(x)[t];
  reinterpret_cast<float4*>(y)[t] =
      make_float4(dropout(gelu(v.x), number<24>(call, 0)), dropout(gelu(v.y), number<24>(call, 1)),
                  dropout(gelu(v.z), number<24>(call, 2)), dropout(gelu(v.w), number<24>(call, 3)));
}

__global__ void rest(const float* x, float* y, unsigned n, Dropout dropout,
                     const unsigned long long* offset) {
  const unsigned i = n / 4 * 4 + threadIdx.x;
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(draw(dropout.random, offset, n / 4), threadIdx.x));
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  const unsigned count = n;
  if (n >= 4) launch(fours, (n / 4 + 255) / 256, 256, x, y, count, dropout, offset);
  if (n % 4 > 0) launch(rest, 1, 32, x, y, count, dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
