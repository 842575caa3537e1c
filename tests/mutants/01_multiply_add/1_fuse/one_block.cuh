// one block goes through all elements | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__global__ void fused(const float* q, const float* k, const float* v, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = q[i] * k[i] + v[i];
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  launch(fused, 1, 1024, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
