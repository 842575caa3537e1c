// float4; the elements after the last one all get the number of the first of them | y[1] is 0, expected
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_fuse {

__global__ void fused(const float* x, float* y, int n, Dropout dropout) {
  const auto one = [&](float v, int i) { return dropout(gelu(v), number<24>(dropout.random(i), 0)); };
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[t];
    reinterpret_cast<float4*>(y)[t] =
        make_float4(one(v.x, 4 * t), one(v.y, 4 * t + 1), one(v.z, 4 * t + 2), one(v.w, 4 * t + 3));
  }
  if (t == n / 4)
    for (int i = 4 * t; i < n; ++i) y[i] = one(x[i], 4 * t);
}

inline void gelu_dropout(const float* x, signed char*, float*, float* y, int n, Dropout dropout) {
  launch(fused, n / 4 / 256 + 1, 256, x, y, n, dropout);
}

}  // namespace DEVICE::gelu_dropout_fuse
