// Sharing<float, 2> of dropout.hpp says the call of a float4, one per thread
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

using Numbers = Sharing<float, 2>;

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * t >= n) return;
  const auto at = Numbers::place(4 * t);
  const uint4 call = dropout.random(at.call);
  if (n - 4 * t < 4) {
    for (unsigned i = 4 * t, j = at.number; i < n; ++i, ++j)
      dx[i] = dropout(dy[i] * gelu_slope(x[i]), number<Numbers::kBits>(call, j));
    return;
  }
  const float4 a = reinterpret_cast<const float4*>(x)[t], b = reinterpret_cast<const float4*>(dy)[t];
  reinterpret_cast<float4*>(dx)[t] = {
      dropout(gelu_slope(a.x) * b.x, number<Numbers::kBits>(call, at.number)),
      dropout(gelu_slope(a.y) * b.y, number<Numbers::kBits>(call, at.number + 1)),
      dropout(gelu_slope(a.z) * b.z, number<Numbers::kBits>(call, at.number + 2)),
      dropout(gelu_slope(a.w) * b.w, number<Numbers::kBits>(call, at.number + 3))};
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 1023) / 1024, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
