// a grid-stride loop over a fixed grid; helpers named like the specification's
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

constexpr int kLimits = 1024, kArrays = 128;
__device__ inline float elements(float x, float y) { return expf(2.0f * (x + y)); }
inline int blocks(int n) { return n < kLimits * kArrays ? (n + kArrays - 1) / kArrays : kLimits; }

__global__ void run(const float* x, const float* y, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = elements(x[i], y[i]);
}

inline void add_mul_exp(const float* x, const float* y, float* between, float* out, int n) {
  launch(run, blocks(n), kArrays, x, y, out, n);
}

}  // namespace DEVICE::add_mul_exp_fuse
