// the derivative by normcdff and exp2f; all loads before the call; a mask of 0 and scale
#pragma once
#include "device.hpp"
#include "dropout.hpp"
#include "gelu.hpp"

namespace DEVICE::gelu_dropout_backward {

__device__ inline float slope_of(float v) {
  const float density = 0.39894228f * exp2f(-0.72134752f * v * v);
  return fmaf(v, density, normcdff(v));
}

__global__ void backward(const float* x, const float* dy, float* dx, unsigned n, Dropout dropout) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, i = t / 32 * 256 + t % 32 * 4;
  float v[8], d[8];
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned at = i + 128 * half;
    if (at + 4 <= n) {
      const float4 a = *reinterpret_cast<const float4*>(x + at);
      const float4 b = *reinterpret_cast<const float4*>(dy + at);
      v[4 * half] = a.x, v[4 * half + 1] = a.y, v[4 * half + 2] = a.z, v[4 * half + 3] = a.w;
      d[4 * half] = b.x, d[4 * half + 1] = b.y, d[4 * half + 2] = b.z, d[4 * half + 3] = b.w;
    } else {
      for (unsigned j = 0; j < 4; ++j) {
        v[4 * half + j] = at + j < n ? x[at + j] : 0.0f;
        d[4 * half + j] = at + j < n ? dy[at + j] : 0.0f;
      }
    }
  }
  const uint4 call = dropout.random(t);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float factor = dropout.drops(number<16>(call, j)) ? 0.0f : dropout.scale;
    d[j] *= factor * slope_of(v[j]);
  }
#pragma unroll
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned at = i + 128 * half;
    const float* r = d + 4 * half;
    if (at + 4 <= n)
      *reinterpret_cast<float4*>(dx + at) = make_float4(r[0], r[1], r[2], r[3]);
    else
      for (unsigned j = 0; at + j < n; ++j) dx[at + j] = r[j];
  }
}

inline void gelu_dropout_backward(const float* x, const float* dy, float* dx, int n, Dropout dropout) {
  launch(backward, (n + 2047) / 2048, 256, x, dy, dx, static_cast<unsigned>(n), dropout);
}

}  // namespace DEVICE::gelu_dropout_backward
