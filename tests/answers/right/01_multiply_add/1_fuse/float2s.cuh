// float2 in a grid-stride loop, the last element by thread 0
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__global__ void pairs(const float2* q, const float2* k, const float2* v, float2* out, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = thread; i < n / 2; i += gridDim.x * blockDim.x) {
    const float2 a = q[i], b = k[i], c = v[i];
    out[i] = make_float2(a.x * b.x + c.x, a.y * b.y + c.y);
  }
  if (thread == 0 && n % 2)
    out[n / 2].x = q[n / 2].x * k[n / 2].x + v[n / 2].x;
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  const auto two = [](const float* p) { return reinterpret_cast<const float2*>(p); };
  launch(pairs, (n + 1023) / 1024, 256, two(q), two(k), two(v), reinterpret_cast<float2*>(out), n);
}

}  // namespace DEVICE::multiply_add_fuse
