// float4, with n rounded up | out of bounds
#pragma once
#include "device.hpp"

namespace DEVICE::add_mul_exp_fuse {

__device__ inline float f(float a, float b) { return expf((a + b) * 2.0f); }

__global__ void fused(const float4* x, const float4* y, float4* out, int vectors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  const float4 a = x[i], b = y[i];
  out[i] = make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
}

inline void add_mul_exp(const float* x, const float* y, float*, float* out, int n) {
  const int vectors = (n + 3) / 4;
  launch(fused, (vectors + 255) / 256, 256, reinterpret_cast<const float4*>(x),
         reinterpret_cast<const float4*>(y), reinterpret_cast<float4*>(out), vectors);
}

}  // namespace DEVICE::add_mul_exp_fuse
