// a grid-stride loop on a grid of one size, indices of size_t
#pragma once
#include "device.hpp"

namespace DEVICE::multiply_add_fuse {

__global__ void fma_kernel(const float* q, const float* k, const float* v, float* out, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n; i += gridDim.x * blockDim.x) out[i] = fmaf(q[i], k[i], v[i]);
}

inline void multiply_add(const float* q, const float* k, const float* v, float* out, size_t n) {
  launch(fma_kernel, 264, 512, q, k, v, out, n);
}

}  // namespace DEVICE::multiply_add_fuse
