// a grid-stride loop over chunks of 256 elements, one per warp; a lambda
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
  for (unsigned c = (blockIdx.x * blockDim.x + threadIdx.x) / 32; 256 * c < n; c += warps) {
    const uint4 call = dropout.random(32 * c + lane);
    const auto slope = [&](float value, float d, int j) {
      return dropout(d * gelu_slope(value), number<16>(call, j));
    };
    for (int half = 0; half < 2; ++half) {
      const unsigned i = 256 * c + 128 * half + 4 * lane;
      const int j = 4 * half;
      if (i + 3 < n) {
        const float4 v = *reinterpret_cast<const float4*>(&x[i]),
                     d = *reinterpret_cast<const float4*>(&dy[i]);
        *reinterpret_cast<float4*>(&dx[i]) = make_float4(slope(v.x, d.x, j), slope(v.y, d.y, j + 1),
                                                         slope(v.z, d.z, j + 2), slope(v.w, d.w, j + 3));
      } else {
        if (i < n) dx[i] = slope(x[i], dy[i], j);
        if (i + 1 < n) dx[i + 1] = slope(x[i + 1], dy[i + 1], j + 1);
        if (i + 2 < n) dx[i + 2] = slope(x[i + 2], dy[i + 2], j + 2);
      }
    }
  }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  const int blocks = (n + 1023) / 1024;
  launch(backward, blocks < 528 ? blocks : 528, 128, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
