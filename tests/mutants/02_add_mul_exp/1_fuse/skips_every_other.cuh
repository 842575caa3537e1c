// a grid-stride loop whose stride is one block too long | out[
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__global__ void fused(const float* x, const float* y, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (gridDim.x + 1) * blockDim.x)
    out[i] = expf((x[i] + y[i]) * 2.0f);
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  launch(fused, n < 65536 ? (n + 255) / 256 : 256, 256, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
