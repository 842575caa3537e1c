// split<4>() of common/kernels, as chapter 01's stage 3
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"
#include "vectors.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__device__ inline uint4 draw(Random random, const volatile unsigned long long* offset, unsigned call) {
  random.offset = *offset;
  return random(call);
}

__global__ void share_calls(const float* __restrict__ x, float* __restrict__ y, int n, Dropout dropout,
                            const unsigned long long* offset) {
  const Split at = split<4>(n, x, y);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < at.vectors) {
    const float4 v = reinterpret_cast<const float4*>(x + at.head)[thread];
    const uint4 call = draw(dropout.random, offset, thread);
    reinterpret_cast<float4*>(y + at.head)[thread] =
        make_float4(dropout(gelu(v.x), call.x >> 8), dropout(gelu(v.y), call.y >> 8),
                    dropout(gelu(v.z), call.z >> 8), dropout(gelu(v.w), call.w >> 8));
  }
  for (unsigned s = thread; s < at.singles(); s += gridDim.x * blockDim.x) {
    const unsigned i = at.single(s);
    y[i] = dropout(gelu(x[i]), number<24>(draw(dropout.random, offset, i / 4), i % 4));
  }
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n + 1023) / 1024, 256, x, y, n, dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
