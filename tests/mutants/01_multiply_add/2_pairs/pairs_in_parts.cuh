// one load per pair, but each thread has four neighbouring elements | over budget: bytes read
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void fused(const float2* pairs, const float* v, float* out, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < first + 4 && i < n; ++i) {
    const float2 qk = pairs[i];
    out[i] = qk.x * qk.y + v[i];
  }
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(fused, (n - 1) / 1024 + 1, 256, reinterpret_cast<const float2*>(pairs), v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
