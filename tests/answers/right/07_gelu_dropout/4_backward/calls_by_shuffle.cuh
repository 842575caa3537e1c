// in the second round, the lanes have the float4 in reverse, and get the words by shuffles
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, lane = t % 32;
  const uint4 mine = dropout.random(t);
  uint4 call = mine;
  for (int v = 0; v < 2; ++v) {
    const unsigned owner = v == 0 ? lane : 31 - lane;
    call.x = __shfl_sync(0xffffffffu, mine.x, owner);
    call.y = __shfl_sync(0xffffffffu, mine.y, owner);
    call.z = __shfl_sync(0xffffffffu, mine.z, owner);
    call.w = __shfl_sync(0xffffffffu, mine.w, owner);
    const unsigned first = t / 32 * 256 + 128 * v + 4 * owner;
    if (first + 4 <= n) {
      const float4 values = *reinterpret_cast<const float4*>(x + first);
      float4 four = *reinterpret_cast<const float4*>(dy + first);
      four.x = dropout(four.x * gelu_slope(values.x), number<16>(call, 4 * v));
      four.y = dropout(four.y * gelu_slope(values.y), number<16>(call, 4 * v + 1));
      four.z = dropout(four.z * gelu_slope(values.z), number<16>(call, 4 * v + 2));
      four.w = dropout(four.w * gelu_slope(values.w), number<16>(call, 4 * v + 3));
      *reinterpret_cast<float4*>(dx + first) = four;
    } else {
      for (unsigned i = first; i < n; ++i)
        dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<16>(call, 4 * v + i - first));
    }
  }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 2047) / 2048, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
