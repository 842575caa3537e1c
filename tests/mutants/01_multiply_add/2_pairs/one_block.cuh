// one block does all of it | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_pairs {

__global__ void fused(const float2* pairs, const float* v, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float2 qk = pairs[i];
    out[i] = qk.x * qk.y + v[i];
  }
}

inline void multiply_add(const float* pairs, const float* v, float* out, int n) {
  launch(fused, 1, 256, reinterpret_cast<const float2*>(pairs), v, out, n);
}

}  // namespace DEVICE::multiply_add_pairs
