// a grid of which one warp does the work | over budget: percent of all loads and stores in one block
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__global__ void fused(const float* q, const float* k, const float* v, float* out, int n) {
  if (blockIdx.x == 0 && threadIdx.x < 32)
    for (int i = threadIdx.x; i < n; i += 32) out[i] = q[i] * k[i] + v[i];
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  launch(fused, (n + 255) / 256, 256, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
