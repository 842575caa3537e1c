// float4 in a grid-stride loop, then the last elements one by one
#pragma once
#include "device.hpp"

namespace DEVICE::first_kernel_grid {

__device__ inline float4 doubled(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

__global__ void twice(const float* x, float* out, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  const float4* from = reinterpret_cast<const float4*>(x);
  float4* to = reinterpret_cast<float4*>(out);
  for (unsigned i = first; i < n / 4; i += step) to[i] = doubled(from[i]);
  for (unsigned i = n / 4 * 4 + first; i < n; i += step) out[i] = 2 * x[i];
}

}  // namespace DEVICE::first_kernel_grid
