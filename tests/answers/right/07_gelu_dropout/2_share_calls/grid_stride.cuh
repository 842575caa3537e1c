// a grid-stride loop over float4; the offset is loaded once per thread; the tail in parallel
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_share_calls {

__global__ void fours(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  dropout.random.offset = *offset;
  for (int v = thread; v < n / 4; v += threads) {
    const float4 in = reinterpret_cast<const float4*>(x)[v];
    const uint4 drawn = dropout.random(v);
    float4 out;
    out.x = dropout(gelu(in.x), drawn.x >> 8);
    out.y = dropout(gelu(in.y), drawn.y >> 8);
    out.z = dropout(gelu(in.z), drawn.z >> 8);
    out.w = dropout(gelu(in.w), drawn.w >> 8);
    reinterpret_cast<float4*>(y)[v] = out;
  }
  const int rest = n / 4 * 4 + thread;
  if (rest < n) y[rest] = dropout(gelu(x[rest]), number<24>(dropout.random(n / 4), thread));
}

inline void gelu_dropout(const float* x, float* y, int n, Dropout dropout, const unsigned long long* offset) {
  const int blocks = (n + 1023) / 1024;
  launch(fours, blocks < 512 ? blocks : 512, 256, x, y, n, dropout, offset);
}

}  // namespace DEVICE::gelu_dropout_share_calls
