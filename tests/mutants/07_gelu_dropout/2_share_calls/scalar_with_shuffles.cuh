// one element per lane: every fourth lane calls, and hands out the numbers | over budget: load requests
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
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  uint4 call = {};
  if (lane % 4 == 0) call = draw(dropout.random, offset, i / 4);
  const unsigned from = lane / 4 * 4;
  const uint4 all = {__shfl_sync(0xffffffffu, call.x, from), __shfl_sync(0xffffffffu, call.y, from),
                     __shfl_sync(0xffffffffu, call.z, from), __shfl_sync(0xffffffffu, call.w, from)};
  if (i < n) y[i] = dropout(gelu(x[i]), number<24>(all, i % 4));
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  launch(share_calls, (n + 255) / 256, 256, x, y, static_cast<unsigned>(n), dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
