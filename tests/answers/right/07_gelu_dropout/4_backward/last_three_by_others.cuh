// whole float4 by threads, and the elements after them by the first threads of the last block
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__device__ inline float one(unsigned i, const float* x, const float* dy, Dropout dropout) {
  const auto at = Sharing<float, 2>::place(i);
  return dropout(dy[i] * gelu_slope(x[i]), number<16>(dropout.random(at.call), at.number));
}

__global__ void backward(const float4* x, const float4* dy, float4* dx, unsigned n, Dropout dropout) {
  const unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n / 4) {
    const auto at = Sharing<float, 2>::place(4 * v);
    const uint4 call = dropout.random(at.call);
    const float4 a = x[v];
    float4 b = dy[v];
    float* d[4] = {&b.x, &b.y, &b.z, &b.w};
    const float values[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
    for (int j = 0; j < 4; ++j)
      *d[j] = dropout(*d[j] * gelu_slope(values[j]), number<16>(call, at.number + j));
    dx[v] = b;
  }
  const unsigned i = n / 4 * 4 + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && i < n)
    reinterpret_cast<float*>(dx)[i] =
        one(i, reinterpret_cast<const float*>(x), reinterpret_cast<const float*>(dy), dropout);
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, n / 1024 + 1, 256, reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(dy),
         reinterpret_cast<float4*>(dx), static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
