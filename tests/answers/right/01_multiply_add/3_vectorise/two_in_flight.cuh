// two float4 per thread, a block apart, both loaded first
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_vectorise {

constexpr unsigned kThreads = 256, kVectors = 2;

__device__ float4 axpy(float a, float4 x, float4 y) {
  return {a * x.x + y.x, a * x.y + y.y, a * x.z + y.z, a * x.w + y.w};
}

__global__ void scaled_sum(float a, const float* __restrict__ x, const float* __restrict__ y,
                           float* __restrict__ out, unsigned n) {
  const unsigned long long addresses[] = {reinterpret_cast<unsigned long long>(x),
                                          reinterpret_cast<unsigned long long>(y),
                                          reinterpret_cast<unsigned long long>(out)};
  const bool alike = ((addresses[0] ^ addresses[1]) | (addresses[0] ^ addresses[2])) % 16 == 0;
  const unsigned head = alike ? min(n, static_cast<unsigned>(-addresses[0] / 4 % 4)) : n;
  const unsigned count = (n - head) / 4;
  const float4* x4 = reinterpret_cast<const float4*>(x + head);
  const float4* y4 = reinterpret_cast<const float4*>(y + head);

  float4 xs[kVectors], ys[kVectors];
  const unsigned first = blockIdx.x * kThreads * kVectors + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kVectors; ++k) {
    if (first + k * kThreads >= count) break;
    xs[k] = x4[first + k * kThreads];
    ys[k] = y4[first + k * kThreads];
  }
#pragma unroll
  for (unsigned k = 0; k < kVectors; ++k) {
    if (first + k * kThreads >= count) break;
    reinterpret_cast<float4*>(out + head)[first + k * kThreads] = axpy(a, xs[k], ys[k]);
  }

  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    if (i < head || i >= head + 4 * count) out[i] = a * x[i] + y[i];
}

inline void scale_and_add(float a, const float* x, const float* y, float* out, int n) {
  constexpr int kPerBlock = 4 * kThreads * kVectors;
  launch(scaled_sum, (n + kPerBlock - 1) / kPerBlock, dim3(kThreads), a, x, y, out, unsigned(n));
}

}  // namespace DEVICE::multiply_add_vectorise
