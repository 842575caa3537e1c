// a large even n is taken for whole blocks | out[
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__global__ void fused(const float* q, const float* k, const float* v, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = q[i] * k[i] + v[i];
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, int n) {
  const int blocks = n < 2048 || n % 2 == 1 ? (n + 255) / 256 : n / 256;
  launch(fused, blocks, 256, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
